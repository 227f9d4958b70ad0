#include "layers/attention/origins.h"

#include <algorithm>
#include <iterator>

namespace weft::layers {
namespace {

constexpr std::string_view softmax_over_some =
    "out_i = sum over j in S_i of softmax_j(q_i . k_j / sqrt(D)) v_j";
constexpr std::string_view sparse_transformer =
    "Child et al. 2019, Generating Long Sequences with Sparse Transformers, arXiv:1904.10509";
constexpr std::string_view longformer =
    "Beltagy et al. 2020, Longformer: The Long-Document Transformer, arXiv:2004.05150";
constexpr std::string_view bigbird =
    "Zaheer et al. 2020, Big Bird: Transformers for Longer Sequences, arXiv:2007.14062";
constexpr std::string_view spans =
    "Sukhbaatar et al. 2019, Adaptive Attention Span in Transformers, arXiv:1905.07799";

constexpr AttentionOrigin origins[] = {
    {"dense", "out_i = sum_j softmax_j(q_i . k_j / sqrt(D)) v_j",
     "Vaswani et al. 2017, Attention Is All You Need, arXiv:1706.03762"},
    {"pattern", softmax_over_some, sparse_transformer},
    {"local", softmax_over_some,
     "Liu et al. 2018, Generating Wikipedia by Summarizing Long Sequences, arXiv:1801.10198"},
    {"strided", softmax_over_some, sparse_transformer},
    {"fixed", softmax_over_some, sparse_transformer},
    {"dilated", softmax_over_some, longformer},
    {"global", softmax_over_some, longformer},
    {"random", softmax_over_some, bigbird},
    {"longformer", softmax_over_some, longformer},
    {"bigbird", softmax_over_some, bigbird},
    {"etc", "out_i = sum over j in S_i of softmax_j(q_i . (k_j + a[label_ij]) / sqrt(D)) v_j",
     "Ainslie et al. 2020, ETC: Encoding Long and Structured Inputs in Transformers, "
     "arXiv:2004.08483"},
    {"bp", "out_i = sum over nodes j of softmax_j(q_i . (k_j + a[label_ij]) / sqrt(D)) v_j",
     "Ye et al. 2019, BP-Transformer: Modelling Long-Range Context via Binary Partitioning, "
     "arXiv:1911.04070"},
    {"lsh", "softmax over j with hash(k_j) = hash(q_i), k = q / |q|, hash(x) = argmax [x R, -x R]",
     "Kitaev et al. 2020, Reformer: The Efficient Transformer, arXiv:2001.04451"},
    {"routing", "softmax over j with the cluster of i, cluster(x) = argmax_c x . centre_c",
     "Roy et al. 2020, Efficient Content-Based Sparse Attention with Routing Transformers, "
     "arXiv:2003.05997"},
    {"moba", "softmax over j in the blocks whose mean key has the highest product with q_i",
     "Lu et al. 2025, MoBA: Mixture of Block Attention for Long-Context LLMs, arXiv:2502.13189"},
    {"nsa", "out_i = sum over compressed, selected and window branches of gate_b softmax over S_b",
     "Yuan et al. 2025, Native Sparse Attention: Hardware-Aligned and Natively Trainable Sparse "
     "Attention, arXiv:2502.11089"},
    {"indexed", "softmax over the j <= i with the largest I_ij = sum_h w_h relu(q_h . k_j)",
     "DeepSeek-AI 2025, DeepSeek-V3.2: Pushing the Frontier of Open Large Language Models, "
     "arXiv:2512.02556"},
    {"compressed", "one softmax over a window and over entries, each pooled from several tokens",
     "DeepSeek-AI 2026, DeepSeek-V4: Towards Highly Efficient Million-Token Context Intelligence, "
     "simplified"},
    {"forgetting",
     "softmax_j(q_i . k_j / sqrt(D) + sum of ln f_l over j < l <= i), f = sigmoid(x W)",
     "Lin et al. 2025, Forgetting Transformer: Softmax Attention with a Forget Gate, "
     "arXiv:2503.02130"},
    {"differential",
     "out_h = softmax(q_2h . k / sqrt(D)) v - sigmoid(x W)_h softmax(q_2h+1 . k / sqrt(D)) v",
     "Ye et al. 2024, Differential Transformer, arXiv:2410.05258, as in its version 2 of 2026"},
    {"linear", "out_i = sum_j phi(q_i) . phi(k_j) v_j / sum_j phi(q_i) . phi(k_j)",
     "Katharopoulos et al. 2020, Transformers are RNNs: Fast Autoregressive Transformers with "
     "Linear Attention, arXiv:2006.16236"},
    {"taylor", "out_i = sum_j (1 + cos(q_i, k_j)) v_j / sum_j (1 + cos(q_i, k_j))",
     "Li et al. 2020, Linear Attention Mechanism: An Efficient Attention for Semantic "
     "Segmentation, arXiv:2007.14902"},
    {"efficient", "out_i = sum_c softmax_c(q_i)[c] sum_j softmax_j(k_j[c]) v_j",
     "Shen et al. 2018, Efficient Attention: Attention with Linear Complexities, "
     "arXiv:1812.01243"},
    {"performer", "linear with phi(x)_c = exp(w_c . x / D^(1/4) - |x|^2 / (2 sqrt(D)))",
     "Choromanski et al. 2020, Rethinking Attention with Performers, arXiv:2009.14794"},
    {"linformer", "out_i = sum_s softmax_s(q_i . (E k)_s / sqrt(D)) (F v)_s",
     "Wang et al. 2020, Linformer: Self-Attention with Linear Complexity, arXiv:2006.04768"},
    {"retention", "S <- (1 - 2^(-5 - h)) S + k v^T,  out = rms(S^T q / sqrt(D)) silu(gate)",
     "Sun et al. 2023, Retentive Network: A Successor to Transformer for Large Language Models, "
     "arXiv:2307.08621"},
    {"gla", "S <- diag(e^g) S + k v^T,  out = rms(S^T q / sqrt(D)) silu(gate)",
     "Yang et al. 2023, Gated Linear Attention Transformers with Hardware-Efficient Training, "
     "arXiv:2312.06635"},
    {"ssd", "S <- e^(-e^A t) S + t k v^T,  out = rms((S^T q + skip v) silu(gate))",
     "Dao and Gu 2024, Transformers are SSMs: Generalized Models and Efficient Algorithms Through "
     "Structured State Space Duality, arXiv:2405.21060"},
    {"deltanet", "S <- S + b k (v - S^T k)^T,  out = rms(S^T q / sqrt(D))",
     "Yang et al. 2024, Parallelizing Linear Transformers with the Delta Rule over Sequence "
     "Length, arXiv:2406.06484"},
    {"gated_deltanet", "S~ = e^g S,  S <- S~ + b k (v - S~^T k)^T",
     "Yang et al. 2024, Gated Delta Networks: Improving Mamba2 with Delta Rule, arXiv:2412.06464"},
    {"kda", "S~ = diag(e^g) S,  S <- S~ + b k (v - S~^T k)^T",
     "Kimi Team 2025, Kimi Linear: An Expressive, Efficient Attention Architecture, "
     "arXiv:2510.26692"},
    {"gdn2", "S~ = diag(e^g) S,  S <- S~ + k (b' v - S~^T (b k))^T",
     "Hatamizadeh et al. 2026, Gated DeltaNet-2: Decoupling Erase and Write in Linear Attention, "
     "arXiv:2605.22791"},
    {"fixed_span", "softmax over the last S keys before i", spans},
    {"adaptive_span",
     "softmax over the last S keys with weights clamp((R + z - distance) / R, 0, 1)", spans},
    {"dynamic_span", "adaptive_span with z_i = S sigmoid(v . x_i + b)", spans},
};

}  // namespace

const AttentionOrigin* find_origin(std::string_view kind) {
  const auto found = std::ranges::find(origins, kind, &AttentionOrigin::kind);
  return found == std::end(origins) ? nullptr : found;
}

}  // namespace weft::layers
