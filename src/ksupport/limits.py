"""Every limit on sizes, with its reason; code asks for them as ``limits.NAME``.

They trade time for memory: what is computed does not depend on them, but for rounding.  Numbers
take eight bytes.  A limit that a method or a command needs for itself alone stays there.
"""

# -- sizes of entries ------------------------------------------------------------------------

SMALLEST, LARGEST = 1e-150, 1e150  # entries of X, or its norm: beyond, squares are 0 or infinite
SMALLEST_Y, LARGEST_Y = 1e-120, 1e120  # of y: squares, times those of X, must be numbers too
EPS = 2.0**-52  # of doubles: a smaller share of a number is lost when it is added

# -- what is decomposed ----------------------------------------------------------------------

SVD = 1 << 16  # entries up to which norms come from a full decomposition: milliseconds
GRAM = 3000  # rows or columns up to which norms come from a Gram matrix: 72 MB, seconds

SQUARES = 1 << 26  # numbers in the sums of squares of sets of rows, and in their roots (512 MB)

# -- what is copied --------------------------------------------------------------------------

COPIED_COLUMNS = 1 << 18  # entries of an X whose columns are copied for each view (2 MB: cache)
COPIES = 21  # views of one X that are so copied, 20 folds and the whole; more share passes instead
ALL_AT_ONCE = 1 << 16  # entries of a problem that is walked on all columns at once
ALL_COLUMNS = 1 << 21  # never copy all columns of a problem with more entries (16 MB)
COMPILED = 1 << 18  # entries up to which X stays in cache, and compiled dense steps win over BLAS
DENSE = 1 << 28  # entries up to which a sparse X is made dense for a solver that asks (2 GB)

# -- what a pass has in memory ---------------------------------------------------------------

CHUNK = 1 << 21  # numbers in memory at once when a pass goes block by block (16 MB)
THREADED = 1 << 19  # numbers of an X in memory that a thread multiplies at once (4 MB)
FEWEST_THREADED = 256  # and columns: fewer of them, of many rows, are slivers
STRIP = 8 * CHUNK  # numbers in a strip of whole stored chunks, at most (128 MB)
READ_COLUMNS = 4 * CHUNK  # numbers in columns read lately, not to be read again (64 MB)
FETCHED_COLUMNS = 1 << 23  # the same of columns fetched from a cluster (64 MB)
RUN = 1 << 16  # numbers to read in a row where a file has them in a row: a disk's grain
AROUND = 1 << 21  # bytes that may become resident when one is read from a mapped file
LOOSE = 1 << 26  # bytes of a mapped file that may be resident before they are given back (64 MB)

# -- what the page of ``ksupport app`` takes -----------------------------------------------------

UPLOAD = 512_000_000  # bytes of a file: more would hardly pass the memory that reading may take

# -- what an answer is asked for -------------------------------------------------------------

LARGEST_BETA = 1e6  # of an F-beta: its square beside as many features as there can be

# -- what is done again ----------------------------------------------------------------------

MOST_PAIRS = 10**5  # of half-samples: frequencies are known to .002, and all are made beforehand

# -- what a walk records ---------------------------------------------------------------------

RECALLED = 5 << 22  # bytes in products that are remembered, for all paths on a view of X (20 MB)
SENT_PRODUCTS = RECALLED // 32  # features up to which products are sent by other processes
RECALLED_DOUBLE = 1 << 16  # features up to which they are remembered in double precision
CHOSEN_FOR = 1 << 22  # numbers in products for which columns are chosen at once (32 MB)
WORKING = 1 << 19  # numbers in the columns that a path walks on, unless it needs more (4 MB)
FIRST_STEPS = 64  # steps of a path's first block; later blocks grow with the distance walked
BLOCK_STEPS = 8192  # steps of a block, at most, so that Ctrl-C and progress are heard
BLOCK_NUMBERS = 1 << 21  # numbers in one block of recorded iterates (16 MB)
SHARED_NUMBERS = 1 << 23  # the same of all paths that walk side by side (64 MB)
MOST_DRAWN = 10**8  # supports drawn of a posterior at once: each is a tuple in memory
