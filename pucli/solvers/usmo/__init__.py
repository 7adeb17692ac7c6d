"""USMO, exact PU learning at linear memory (Sansone, De Natale and Zhou 2019), and its peers."""
