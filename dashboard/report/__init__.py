"""A finished run to take away: a page to print, a workbook to fill in, tables, JSON."""
