#include "layers/settings/part_origins.h"

namespace weft::layers {
namespace {

constexpr std::string_view transformer =
    "Vaswani et al. 2017, Attention Is All You Need, arXiv:1706.03762";

constexpr PartOrigin trunks[] = {
    {"transformer", "trunk", "transformer",
     "layers of any attention and a feed-forward, each added to the residual stream",
     "x <- x + attention(norm(x)), x <- x + feedforward(norm(x)), layer by layer", transformer},
    {"star", "trunk", "star",
     "tokens in a ring that read their neighbours, and a relay that reads them all",
     "h_i <- norm(relu(attend(h_i; h_(i-1), h_i, h_(i+1), x_i, s))), s <- norm(relu(attend(s; s, "
     "h_1 .. h_T))), cycle by cycle",
     "Guo et al. 2019, Star-Transformer, arXiv:1902.09113"},
    {"universal", "steps", "6",
     "the same layers again and again, as often as each token needs with halting = \"act\"",
     "h <- layers(h + position + step), step by step; act: out_i = sum_n p_i(n) h_i(n), sum_n "
     "p_i(n) = 1",
     "Dehghani et al. 2018, Universal Transformers, arXiv:1807.03819; act: Graves 2016, Adaptive "
     "Computation Time for Recurrent Neural Networks, arXiv:1603.08983"},
};

constexpr PartOrigin feed_forwards[] = {
    {"dense", "feedforward", "dense", "a layer of hidden units, all of which every token uses",
     "y = gelu(x W1 + b1) W2 + b2", transformer},
    {"sparse", "feedforward", "sparse",
     "a controller opens one hidden unit in each block, and decoding reads only these",
     "y = relu((x W1) gate) W2 + b2, gate = one-hot argmax of each block of x C1 C2 + b",
     "Jaszczur et al. 2021, Sparse is Enough in Scaling Transformers, arXiv:2111.12763"},
    {"experts", "feedforward", "experts",
     "many feed-forwards, of which a router chooses one or a few for each token",
     "y = sum over the most probable e of P_e ffn_e(x), P = softmax(x R)",
     "Shazeer et al. 2017, Outrageously Large Neural Networks: The Sparsely-Gated "
     "Mixture-of-Experts Layer, arXiv:1701.06538; one expert: Fedus et al. 2021, Switch "
     "Transformers, arXiv:2101.03961"},
    {"memory", "feedforward", "memory",
     "learned values, of which each head reads the few whose pair of keys fits its query best",
     "y = sum over heads and their best (i, j) of softmax(q1 . a_i + q2 . b_j) v_ij, (q1, q2) = "
     "norm(x Q)",
     "Lample et al. 2019, Large Memory Layers with Product Keys, arXiv:1907.05242"},
};

}  // namespace

std::span<const PartOrigin> trunk_origins() { return trunks; }

std::span<const PartOrigin> feed_forward_origins() { return feed_forwards; }

}  // namespace weft::layers
