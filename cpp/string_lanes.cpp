// Compiled once for each instruction set, with MERCER_ISA naming it.
