#include "layers/multi_head/head_projection.h"

#include "core/error.h"
#include "layers/multi_head/sparse_projection.h"

namespace weft::layers {
namespace {

/// One matrix for all projections, packed.
class DenseProjection final : public HeadProjection {
 public:
  DenseProjection(Index width, Index projections, Index columns, Init init)
      : all_(width, projections * columns, init), count_(projections), columns_(columns) {}

  std::vector<HeadBlock> forward(const Pass&, const Var& x, Index) const override {
    const Var packed = all_.forward(x);
    std::vector<HeadBlock> blocks;
    for (Index i = 0; i < count_; ++i) blocks.push_back({packed, i * columns_});
    return blocks;
  }
  std::vector<HeadBlock> behind_past(const Pass& pass, const Tensor& before,
                                     const std::vector<HeadBlock>& now,
                                     Index batch) const override {
    const Index first = now.front().first, count = Index(now.size()) * columns_;
    const Var past = all_.part(pass, before, first, count);
    const Var both = autograd::append_rows(past, now.front().matrix, batch, first);
    std::vector<HeadBlock> blocks;
    for (std::size_t i = 0; i < now.size(); ++i) blocks.push_back({both, Index(i) * columns_});
    return blocks;
  }
  Tensor step(DecodeState*, const Tensor& x) const override { return all_.forward(Var(x)).value(); }

  Index weights() const override { return all_.weights(); }
  void visit(Inventory& inventory) override { all_.visit(inventory); }

 private:
  Linear all_;
  Index count_, columns_;
};

}  // namespace

void ProjectionSettings::fields(core::Fields& field) {
  field.choice("projection", kind,
               "how queries, keys and values are made: dense matrices and an output layer, or "
               "sparse: one multiplicative layer, a convolution each, no output layer",
               {"dense", "sparse"});
  field.when("projection", {"sparse"}, [&] {
    field.integer("modules", modules, "modules of the sparse projection (S); 0: as many as heads",
                  core::between(0, 65536));
    field.integer("conv_length", taps, "tokens under each of its convolutions, the last its own",
                  core::between(1, 1024));
  });
}

std::string ProjectionSettings::why_unfit(Index heads, Index columns) const {
  if (!sparse() || columns % std::max<Index>(modules_of(heads), 1) == 0) return "";
  return core::message_of(columns, " columns of ", heads, " heads are not ", modules_of(heads),
                          " modules of one width");
}

std::unique_ptr<HeadProjection> make_projection(const ProjectionSettings& settings,
                                                const std::vector<Projection>& projections,
                                                Index width, Index heads, Index columns, Init in) {
  if (!settings.sparse())
    return std::make_unique<DenseProjection>(width, Index(projections.size()), columns, in);
  const std::string unfit = settings.why_unfit(heads, columns);
  core::require(unfit.empty(), "sparse projection: ", unfit);
  return std::make_unique<SparseProjection>(projections, width, settings.modules_of(heads), columns,
                                            settings.taps);
}

}  // namespace weft::layers
