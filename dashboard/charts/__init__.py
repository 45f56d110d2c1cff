"""Plain functions from results to plotly figures; no Streamlit here."""
