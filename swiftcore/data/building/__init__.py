"""From tables to a tensor: joins, codes, outcomes, documents."""
