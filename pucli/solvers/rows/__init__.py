"""Problems with one piecewise-linear loss per row, which USMO, the SVMs and the elastic methods share."""
