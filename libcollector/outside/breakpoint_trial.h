// Whether the processor's breakpoint registers work. In gnomon-sampler.
#pragma once

namespace gnomon::outside {

// Returns false if a breakpoint of our own has missed a write of our own: some virtual machines
// take breakpoints and never report a hit. Tries it once.
bool breakpoints_work();

}  // namespace gnomon::outside
