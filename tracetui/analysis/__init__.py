"""From a trace to results: activity, steps, gaps, links, operators, heat. Pure numpy, no printing."""
