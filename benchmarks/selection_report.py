def table(rows): return rows
def report(*a): return ""
