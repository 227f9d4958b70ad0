#include "layers/settings/seq2seq_settings.h"

namespace weft::layers {

void Seq2SeqSettings::fields(core::Fields& field, bool reversible) {
  field.integer("encoder_layers", encoder_layers,
                "layers that read the source; 0: as many as `layers`, which generate the target",
                core::between(0, 1000));
  field.texts("encoder_attention", encoder_attention,
              "attention of the layers that read the source, in both directions; empty: that of "
              "`attention`");
  field.text("cross_attention", cross_attention,
             "plain models: attention of the target over the source, a kind or a table "
             "[attention.NAME]");
  field.renamed("recurrent_unit", "sru_width");
  field.integer("sru_width", sru_width,
                "reversible models: columns of a simple recurrent unit in addition to each "
                "feed-forward; 0: none",
                core::between(0, 65536));
  if (reversible && cross_attention != "dense")
    field.problem("cross_attention", "a reversible model joins target and source instead: remove");
  if (!reversible && sru_width > 0)
    field.problem("sru_width", "is a part of reversible models: model.reversible = true");
}

}  // namespace weft::layers
