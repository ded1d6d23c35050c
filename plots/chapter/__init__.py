"""The chapter in two parts, a lesson and a reference: plots/chapter.md and plots/reference.md, filled from results.

data.py says whose results are shown; tables.py and prose.py make tables and sentences of them; code.py takes kernels
out of their sources; pages.py brings in the steps' pages and the glossary; numbering.py numbers figures, tables and
citations and lists the contents; template.py puts the parts together; page.py and style.css make one HTML file of it.
"""
