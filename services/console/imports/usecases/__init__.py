"""Files that become records, one use case a file:

send_file       a file is kept, piece by piece, until it is imported or a day old
import_file     it is tried without effect, or its rows go in, all in one transaction, with history
"""
