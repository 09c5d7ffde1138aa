/* What a batch of programs says of itself. */
struct program {
    int number, parameters, arrays, runs;
    const long *values;   /* run by run */
    const long *counts;   /* elements of each array, run by run */
    const char *types;    /* one letter an array */
    const char *compared; /* whether the array's values count */
    const char *const *names;
    void (*original)(const long *, void **);
    void (*result)(const long *, void **);
};

extern const struct program programs[];
extern const int program_count;
