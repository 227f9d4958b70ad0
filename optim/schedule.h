#pragma once

#include "optim/settings.h"

namespace weft::optim {

/// The learning rate of a step, numbered from 0, of a run of `total_steps`: a pure function, so a
/// resumed run continues at the same rate. With s the step, w the warm-up and n the total:
///
///   s < w      lr (s + 1) / (w + 1), a climb that would reach lr at s = w
///   constant   lr
///   cosine     from lr at s = w along half a cosine to final_lr at s = n
///   linear     from lr at s = w along a line to final_lr at s = n
///   rsqrt      lr sqrt((w + 1) / (s + 1)), which is lr at s = w and needs no end
///
/// Cosine and linear stay at final_lr from s = n on.
double learning_rate(const OptimSettings& settings, core::Index step, core::Index total_steps);

}  // namespace weft::optim
