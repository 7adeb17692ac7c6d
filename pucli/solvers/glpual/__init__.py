"""Global and local PU learning: GLPUAL and GLLC (Wang 2024, chapters 2 and 3)."""
