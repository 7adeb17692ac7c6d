"""GLPUAL with the class prior in the objective (Wang 2024, eq. 5.8)."""
