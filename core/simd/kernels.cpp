// Compiled once for each instruction set (WEFT_SIMD names it). Nothing but xsimd and the kernel
// table is included, so that no inline function of a shared header is emitted with instructions
// that only some CPUs have.
#include "core/simd/kernels.h"

#include <xsimd/xsimd.hpp>

#include "core/simd/row_kernels.h"

namespace weft::core::WEFT_SIMD {
namespace {

/// Calls body(i) for each whole batch and tail(i) for each element that is left.
template <class Body, class Tail>
void walk(Index n, const Body& body, const Tail& tail) {
  Index i = 0;
  for (; i + lanes <= n; i += lanes) body(i);
  for (; i < n; ++i) tail(i);
}

/// Runs a map on whole batches and, for the tail, on one batch padded with zeros.
template <class Map>
void map(const Real* x, const Real* y, Real* out, Index n, const Map& f) {
  Index i = 0;
  for (; i + lanes <= n; i += lanes) f(load(x + i), load(y + i)).store_unaligned(out + i);
  if (i == n) return;
  Real a[lanes] = {}, b[lanes] = {};
  for (Index j = i; j < n; ++j) a[j - i] = x[j], b[j - i] = y[j];
  f(load(a), load(b)).store_unaligned(a);
  for (Index j = i; j < n; ++j) out[j] = a[j - i];
}

Real sum(const Real* x, Index n) {
  Batch total(Real(0));
  Real rest = 0;
  walk(
      n, [&](Index i) { total += load(x + i); }, [&](Index i) { rest += x[i]; });
  return xsimd::hadd(total) + rest;
}

Real dot(const Real* x, const Real* y, Index n) {
  Batch a(Real(0)), b(Real(0));
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = xsimd::fma(load(x + i), load(y + i), a);
    b = xsimd::fma(load(x + i + lanes), load(y + i + lanes), b);
  }
  for (; i + lanes <= n; i += lanes) a = xsimd::fma(load(x + i), load(y + i), a);
  Real rest = 0;
  for (; i < n; ++i) rest += x[i] * y[i];
  return xsimd::hadd(a + b) + rest;
}

Real max(const Real* x, Index n) {
  Real best = x[0];
  Index i = 0;
  if (n >= lanes) {
    Batch top = load(x);
    for (i = lanes; i + lanes <= n; i += lanes) top = xsimd::max(top, load(x + i));
    Real lane[lanes];
    top.store_unaligned(lane);
    for (const Real v : lane) best = v > best ? v : best;
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

void scale(Real a, Real* x, Index n) {
  walk(
      n, [&](Index i) { (load(x + i) * a).store_unaligned(x + i); }, [&](Index i) { x[i] *= a; });
}

void add(const Real* x, const Real* y, Real* out, Index n) {
  walk(
      n, [&](Index i) { (load(x + i) + load(y + i)).store_unaligned(out + i); },
      [&](Index i) { out[i] = x[i] + y[i]; });
}

void axpy(Real a, const Real* x, Real* y, Index n) {
  const Batch factor(a);
  map(x, y, y, n, [&](Batch s, Batch t) { return xsimd::fma(factor, s, t); });
}

void multiply(const Real* x, const Real* y, Real* out, Index n) {
  walk(
      n, [&](Index i) { (load(x + i) * load(y + i)).store_unaligned(out + i); },
      [&](Index i) { out[i] = x[i] * y[i]; });
}

void multiply_add(const Real* x, const Real* y, Real* out, Index n) {
  walk(
      n,
      [&](Index i) {
        xsimd::fma(load(x + i), load(y + i), load(out + i)).store_unaligned(out + i);
      },
      [&](Index i) { out[i] += x[i] * y[i]; });
}

Real exp_sum(Real* x, Real scale, Real shift, Index n) {
  const Batch a(scale), b(-shift);
  Batch total(Real(0));
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Batch e = xsimd::exp(xsimd::fma(a, load(x + i), b));
    e.store_unaligned(x + i);
    total += e;
  }
  Real rest = 0;
  if (i < n) {
    Real tail[lanes] = {};
    for (Index j = i; j < n; ++j) tail[j - i] = x[j];
    xsimd::exp(xsimd::fma(a, load(tail), b)).store_unaligned(tail);
    for (Index j = i; j < n; ++j) rest += x[j] = tail[j - i];
  }
  return xsimd::hadd(total) + rest;
}

void exp_difference(const Real* x, const Real* y, Real* out, Index n) {
  map(x, y, out, n, [](Batch s, Batch t) { return xsimd::exp(s - t); });
}

void score_gradient(const Real* p, Real* s, Real delta, Real scale, Index n) {
  const Batch d(delta), a(scale), zero(Real(0)), one(Real(1));
  map(p, s, s, n, [&](Batch q, Batch t) { return xsimd::select(q >= one, zero, q * (t - d) * a); });
}

Index keep_below(Real* s, const Real* position, Real limit, Real low, Index n) {
  const Batch edge(limit), floor(low), zero(Real(0)), one(Real(1));
  Batch kept(Real(0));
  Index rest = 0;
  walk(
      n,
      [&](Index i) {
        const auto below = load(position + i) < edge;
        xsimd::select(below, load(s + i), floor).store_unaligned(s + i);
        kept += xsimd::select(below, one, zero);
      },
      [&](Index i) {
        if (position[i] < limit)
          ++rest;
        else
          s[i] = low;
      });
  return Index(xsimd::hadd(kept)) + rest;
}

constexpr Real half = Real(0.5);
constexpr Real root_half = Real(0.70710678118654752440);
constexpr Real inverse_root_two_pi = Real(0.39894228040143267794);

void bias_gelu(const Real* x, const Real* bias, Real* y, Index n) {
  map(x, bias, y, n, [](Batch s, Batch b) {
    const Batch z = s + b;
    return half * z * (Real(1) + xsimd::erf(z * root_half));
  });
}

void bias_gelu_gradient(const Real* x, const Real* bias, Real* d, Index n) {
  const auto slope = [](Batch z) {
    const Batch density = inverse_root_two_pi * xsimd::exp(-half * z * z);
    return half * (Real(1) + xsimd::erf(z * root_half)) + z * density;
  };
  Index i = 0;
  for (; i + lanes <= n; i += lanes)
    (load(d + i) * slope(load(x + i) + load(bias + i))).store_unaligned(d + i);
  if (i == n) return;
  Real z[lanes] = {};
  for (Index j = i; j < n; ++j) z[j - i] = x[j] + bias[j];
  slope(load(z)).store_unaligned(z);
  for (Index j = i; j < n; ++j) d[j] *= z[j - i];
}

void relu(const Real* x, Real* y, Index n) {
  const Batch zero(Real(0));
  walk(
      n, [&](Index i) { xsimd::max(load(x + i), zero).store_unaligned(y + i); },
      [&](Index i) { y[i] = x[i] > 0 ? x[i] : 0; });
}

void relu_gradient(const Real* y, Real* d, Index n) {
  const Batch zero(Real(0));
  map(y, d, d, n, [&](Batch v, Batch g) { return xsimd::select(v > zero, g, zero); });
}

void elu_plus_one(const Real* x, Real* y, Index n) {
  map(x, x, y, n, [](Batch v, Batch) {
    const Batch zero(Real(0));
    return xsimd::select(v > zero, v + Real(1), xsimd::exp(xsimd::min(v, zero)));
  });
}

void elu_plus_one_gradient(const Real* y, Real* d, Index n) {
  map(y, d, d, n, [](Batch v, Batch g) { return g * xsimd::min(v, Batch(Real(1))); });
}

void softplus(const Real* x, Real* y, Index n) {
  map(x, x, y, n, [](Batch v, Batch) {
    return xsimd::max(v, Batch(Real(0))) + xsimd::log1p(xsimd::exp(-xsimd::abs(v)));
  });
}

void softplus_gradient(const Real* y, Real* d, Index n) {
  map(y, d, d, n, [](Batch v, Batch g) { return -g * xsimd::expm1(-v); });
}

void logistic(const Real* x, Real* y, Index n) {
  map(x, x, y, n, [](Batch v, Batch) { return Real(1) / (Real(1) + xsimd::exp(-v)); });
}

void layer_norm(const Real* x, const Real* gain, const Real* bias, Real eps, Real* y, Real* mean,
                Real* inverse, Index n) {
  const Real m = sum(x, n) / Real(n);
  Batch squares(Real(0));
  Real rest = 0;
  walk(
      n,
      [&](Index i) {
        const Batch c = load(x + i) - m;
        squares = xsimd::fma(c, c, squares);
      },
      [&](Index i) { rest += (x[i] - m) * (x[i] - m); });
  const Real variance = (xsimd::hadd(squares) + rest) / Real(n);
  const Real r = Real(1) / __builtin_sqrt(variance + eps);
  walk(
      n,
      [&](Index i) {
        xsimd::fma((load(x + i) - m) * r, load(gain + i), load(bias + i)).store_unaligned(y + i);
      },
      [&](Index i) { y[i] = (x[i] - m) * r * gain[i] + bias[i]; });
  *mean = m;
  *inverse = r;
}

void layer_norm_gradient(const Real* x, const Real* gain, const Real* dy, Real mean, Real inverse,
                         Real* dx, Real* dgain, Real* dbias, Index n) {
  // With h = (x - mean) * inverse and g = gain * dy: dx = inverse (g - mean(g) - h mean(g h)).
  Batch total(Real(0)), along(Real(0));
  Real total_rest = 0, along_rest = 0;
  walk(
      n,
      [&](Index i) {
        const Batch h = (load(x + i) - mean) * inverse, d = load(dy + i), g = d * load(gain + i);
        total += g;
        along = xsimd::fma(g, h, along);
        xsimd::fma(d, h, load(dgain + i)).store_unaligned(dgain + i);
        (load(dbias + i) + d).store_unaligned(dbias + i);
      },
      [&](Index i) {
        const Real h = (x[i] - mean) * inverse, g = dy[i] * gain[i];
        total_rest += g;
        along_rest += g * h;
        dgain[i] += dy[i] * h;
        dbias[i] += dy[i];
      });
  const Real g_mean = (xsimd::hadd(total) + total_rest) / Real(n);
  const Real gh_mean = (xsimd::hadd(along) + along_rest) / Real(n);
  walk(
      n,
      [&](Index i) {
        const Batch h = (load(x + i) - mean) * inverse, g = load(dy + i) * load(gain + i);
        ((g - g_mean - h * gh_mean) * inverse).store_unaligned(dx + i);
      },
      [&](Index i) {
        const Real h = (x[i] - mean) * inverse;
        dx[i] = (dy[i] * gain[i] - g_mean - h * gh_mean) * inverse;
      });
}

void rms_norm(const Real* x, const Real* gain, Real eps, Real* y, Real* inverse, Index n) {
  const Real r = Real(1) / __builtin_sqrt(dot(x, x, n) / Real(n) + eps);
  const Batch factor(r);
  map(x, gain, y, n, [&](Batch s, Batch g) { return s * factor * g; });
  *inverse = r;
}

void rms_norm_gradient(const Real* x, const Real* gain, const Real* dy, Real inverse, Real* dx,
                       Real* dgain, Index n) {
  // With h = x * inverse and g = gain * dy: dx = inverse (g - h mean(g h)).
  Batch along(Real(0));
  Real rest = 0;
  walk(
      n,
      [&](Index i) {
        const Batch dh = load(dy + i) * load(x + i) * inverse;
        along = xsimd::fma(dh, load(gain + i), along);
        (load(dgain + i) + dh).store_unaligned(dgain + i);
      },
      [&](Index i) {
        const Real dh = dy[i] * x[i] * inverse;
        rest += dh * gain[i];
        dgain[i] += dh;
      });
  const Real mean = (xsimd::hadd(along) + rest) / Real(n);
  walk(
      n,
      [&](Index i) {
        const Batch h = load(x + i) * inverse;
        ((load(dy + i) * load(gain + i) - h * mean) * inverse).store_unaligned(dx + i);
      },
      [&](Index i) { dx[i] = (dy[i] * gain[i] - x[i] * inverse * mean) * inverse; });
}

void adam(const AdamRule& r, const Real* gradient, Real* parameter, Real* m, Real* v, Index n) {
  const auto update = [&](auto g, auto& p, auto& first, auto& second, auto root) {
    g = g * r.gradient_scale + p * r.decay;
    first = first * r.beta1 + g * (1 - r.beta1);
    second = second * r.beta2 + g * g * (1 - r.beta2);
    p = p * (1 - r.shrink);
    p = p - r.rate * (first * r.correction1) / (root(second * r.correction2) + r.eps);
  };
  walk(
      n,
      [&](Index i) {
        Batch p = load(parameter + i), first = load(m + i), second = load(v + i);
        update(load(gradient + i), p, first, second, [](Batch b) { return xsimd::sqrt(b); });
        p.store_unaligned(parameter + i);
        first.store_unaligned(m + i);
        second.store_unaligned(v + i);
      },
      [&](Index i) {
        update(gradient[i], parameter[i], m[i], v[i], [](Real b) { return __builtin_sqrt(b); });
      });
}

void round_to_bf16(const Real* x, std::uint16_t* y, Index n) {
  for (Index i = 0; i < n; ++i) {
    const auto bits = __builtin_bit_cast(std::uint32_t, float(x[i]));
    const bool is_number = (bits & 0x7fffffff) <= 0x7f800000;
    y[i] = std::uint16_t((is_number ? bits + 0x7fff + (bits >> 16 & 1) : bits | 0x400000) >> 16);
  }
}

#define WEFT_NAME_OF(isa) #isa
#define WEFT_NAME(isa) WEFT_NAME_OF(isa)

}  // namespace

extern const SimdKernels kernels;
const SimdKernels kernels = {
    .isa = WEFT_NAME(WEFT_SIMD),
    .lanes = lanes,
    .sum = sum,
    .dot = dot,
    .max = max,
    .scale = scale,
    .add = add,
    .axpy = axpy,
    .multiply = multiply,
    .multiply_add = multiply_add,
    .exp_sum = exp_sum,
    .exp_difference = exp_difference,
    .score_gradient = score_gradient,
    .keep_below = keep_below,
    .project = project,
    .dots = dots,
    .add_rows = add_rows,
    .add_outer = add_outer,
    .bias_gelu = bias_gelu,
    .bias_gelu_gradient = bias_gelu_gradient,
    .relu = relu,
    .relu_gradient = relu_gradient,
    .elu_plus_one = elu_plus_one,
    .elu_plus_one_gradient = elu_plus_one_gradient,
    .softplus = softplus,
    .softplus_gradient = softplus_gradient,
    .logistic = logistic,
    .layer_norm = layer_norm,
    .layer_norm_gradient = layer_norm_gradient,
    .rms_norm = rms_norm,
    .rms_norm_gradient = rms_norm_gradient,
    .round_to_bf16 = round_to_bf16,
    .adam = adam,
};

}  // namespace weft::core::WEFT_SIMD
