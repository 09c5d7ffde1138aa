/* What a batch of programs says of itself. */
struct program {
    int number, parameters, arrays, runs, results;
    const long *values;   /* run by run */
    const long *counts;   /* elements of each array, run by run */
    const long *homes;    /* the array in whose block each one lies, run by run */
    const long *starts;   /* the first element of each there, run by run */
    const long *calls;    /* in a row, run by run */
    const long *starved;  /* whether the results get no memory, run by run */
    const char *types;    /* one letter an array */
    const char *compared; /* whether the array's values count */
    const char *const *names;
    void (*original)(const long *, void **);
    void (*result[2])(const long *, void **); /* one text built in two ways */
};

extern const struct program programs[];
extern const int program_count;
