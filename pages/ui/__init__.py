"""What the pages are made of; besides the pages themselves the only place that imports Streamlit."""
