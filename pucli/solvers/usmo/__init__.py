"""USMO, exact PU learning with linear memory (Sansone, De Natale and Zhou 2019), and its peers."""
