/* Lines of a recording of the scheduler to columns, in the forms that tracefs, trace-cmd and perf write.
 *
 * `tracetui.siblings.scheduler.line` says what a line means: what is taken here has to come out as it has it.
 * A line with anything unusual is marked as LEFT, and read there. The name of a thread is up to 15 bytes of
 * anything, so whatever follows one is taken only where no other place could be meant. */

#ifndef TRACETUI_SCHEDULER_LINES_H
#define TRACETUI_SCHEDULER_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LONGEST_COMM 16     /* bytes of a name that is taken */
#define LEAST_FLAGS 3       /* characters */
#define MOST_FLAGS 9
#define MOST_SECONDS 9      /* digits */
#define MOST_PIDS (1 << 22) /* as in `tracetui.siblings.scheduler.events` */
#define MOST_CORES (1 << 13)
#define NO_PID (-1)
#define NO_CORE (-1)
#define SEEN_THREADS 4096 /* slots: threads whose name and process are known from a line before */

/* EventKind, and what `blocks` marks lines with. */
enum { LEFT = -1, REMARK = -2 };
enum { SWITCH, WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, IRQ_ENTRY = 8, IRQ_EXIT, SOFTIRQ_ENTRY, SOFTIRQ_EXIT, OTHER };

typedef struct {
    int32_t row, pid;
    char name[LONGEST_COMM]; /* 0 behind its end */
} ThreadName;

typedef struct {
    int32_t thread, process;
} ThreadProcess;

/* A row for each line; see SchedulerColumns. */
typedef struct {
    int64_t *time;
    int16_t *cpu;
    int8_t *kind;
    int32_t *pid, *other;
    int8_t *state;
    int16_t *target;
    int32_t *start; /* of the line in the text */
    ThreadName *names; /* room for two a line: those of switches, where they are new */
    ThreadProcess *processes; /* room for one a line */
    size_t named, owned;      /* that are filled in */
    ThreadName seen[SEEN_THREADS];
    ThreadProcess seen_processes[SEEN_THREADS];
} SchedulerTable;

typedef struct {
    const char *at, *end;
} Text;

typedef struct {
    const char *start;
    size_t length;
    int64_t pid;
} NamedThread;

typedef struct {
    int64_t time, cpu, thread, process, pid, other, target;
    int8_t kind, state;
    bool in_interrupt; /* was written while the thread was interrupted */
    NamedThread left, got; /* of a switch */
} SchedulerLine;

static inline bool is_decimal(char byte) { return byte >= '0' && byte <= '9'; }

static inline bool is_letter(char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

/* Skips a word; false where another one stands there. */
static inline bool skip_word(Text *text, const char *word, size_t length) {
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0) return false;
    text->at += length;
    return true;
}

#define SKIP(text, word) skip_word(text, word, sizeof(word) - 1)

static inline void skip_spaces(Text *text) {
    while (text->at < text->end && *text->at == ' ') text->at++;
}

/* Reads a number of 1 to `most` digits, and no more of them. */
static inline bool read_digits(Text *text, int most, int64_t *value) {
    const char *start = text->at;
    int64_t number = 0;
    for (; text->at < text->end && is_decimal(*text->at); text->at++) {
        if (text->at - start == most) return false;
        number = number * 10 + (*text->at - '0');
    }
    *value = number;
    return text->at > start;
}

static inline bool read_pid(Text *text, int64_t *pid) { return read_digits(text, 8, pid) && *pid < MOST_PIDS; }

static inline bool read_core(Text *text, int64_t *cpu) { return read_digits(text, 5, cpu) && *cpu < MOST_CORES; }

static inline bool skip_priority(Text *text) {
    int64_t priority;
    if (text->at < text->end && *text->at == '-') text->at++;
    return read_digits(text, 9, &priority);
}

/* Reads a number of 1 to 8 digits that ends at `text->end`, and moves that before it. */
static inline bool read_digits_before(Text *text, int64_t *value) {
    int64_t number = 0, scale = 1;
    const char *end = text->end;
    for (; text->end > text->at && is_decimal(text->end[-1]); text->end--, scale *= 10) {
        if (end - text->end == 8) return false;
        number += (text->end[-1] - '0') * scale;
    }
    *value = number;
    return text->end < end;
}

static inline void trim(Text *text) {
    while (text->end > text->at && (text->end[-1] == ' ' || text->end[-1] == '\r')) text->end--;
}

static inline bool skip_space_before(Text *text) {
    const char *end = text->end;
    while (text->end > text->at && text->end[-1] == ' ') text->end--;
    return text->end < end;
}

/* The thread before the core: `comm-12`, perf's `comm 12` and `comm 11/12`, each with `(  11)` behind it or not. */
static bool read_thread(Text before, SchedulerLine *line) {
    line->process = NO_PID;
    if (!skip_space_before(&before)) return false;
    if (before.end > before.at && before.end[-1] == ')') {
        before.end--;
        if (!read_digits_before(&before, &line->process)) {
            const char *end = before.end;
            while (before.end > before.at && before.end[-1] == '-') before.end--;
            if (before.end == end) return false;
            line->process = NO_PID;
        }
        (void)skip_space_before(&before);
        if (before.end == before.at || before.end[-1] != '(') return false;
        before.end--;
        if (!skip_space_before(&before)) return false;
    }
    if (!read_digits_before(&before, &line->thread) || line->thread >= MOST_PIDS) return false;
    if (before.end == before.at) return false;
    char sign = before.end[-1];
    if (sign == '/' && line->process == NO_PID) {
        before.end--;
        if (!read_digits_before(&before, &line->process) || before.end == before.at) return false;
        sign = before.end[-1] == ' ' ? ' ' : 0;
    }
    return (sign == '-' || sign == ' ') && line->process < MOST_PIDS;
}

/* The time, with the flags that may stand before it. */
static bool read_time(Text *text, SchedulerLine *line) {
    int64_t seconds, fraction;
    line->in_interrupt = false;
    skip_spaces(text);
    if (text->at < text->end && !is_decimal(*text->at)) {
        const char *flags = text->at;
        for (; text->at < text->end && *text->at > ' '; text->at++)
            if (*text->at == '[') return false;
        size_t length = (size_t)(text->at - flags);
        if (length < LEAST_FLAGS || length > MOST_FLAGS || !SKIP(text, " ")) return false;
        line->in_interrupt = memchr("hsHZz", flags[2], 5) != NULL;
        skip_spaces(text);
    }
    if (!read_digits(text, MOST_SECONDS, &seconds) || !SKIP(text, ".")) return false;
    const char *dot = text->at;
    if (!read_digits(text, 9, &fraction)) return false;
    size_t digits = (size_t)(text->at - dot);
    if (digits != 6 && digits != 9) return false;
    line->time = seconds * 1000000000 + (digits == 6 ? fraction * 1000 : fraction);
    return SKIP(text, ": ");
}

typedef struct {
    const char *name;
    uint8_t length;
    int8_t kind;
} KindName;

#define KIND_NAME(name, kind) {name, sizeof(name) - 1, kind}

/* The kind of an event by its name, LEFT of those whose fields are not read here. */
static int8_t kind_of(const char *name, size_t length) {
    static const KindName KINDS[] = {
        KIND_NAME("sched_switch", SWITCH),
        KIND_NAME("sched_waking", WAKING),
        KIND_NAME("sched_wakeup", WAKEUP),
        KIND_NAME("sched_wakeup_new", WAKEUP_NEW),
        KIND_NAME("sched_migrate_task", MIGRATE),
        KIND_NAME("irq_handler_entry", IRQ_ENTRY),
        KIND_NAME("irq_handler_exit", IRQ_EXIT),
        KIND_NAME("softirq_entry", SOFTIRQ_ENTRY),
        KIND_NAME("softirq_exit", SOFTIRQ_EXIT),
        KIND_NAME("sched_process_fork", LEFT),
        KIND_NAME("sched_process_exec", LEFT),
        KIND_NAME("sched_process_exit", LEFT),
    };
    for (size_t place = 0; place < sizeof KINDS / sizeof *KINDS; place++)
        if (KINDS[place].length == length && !memcmp(KINDS[place].name, name, length)) return KINDS[place].kind;
    return OTHER;
}

/* Skips the time since the event before, `(+12)`, or how many events perf counted. */
static bool skip_count(Text *text) {
    int64_t count;
    bool open = SKIP(text, "(");
    if (open) (void)SKIP(text, "+");
    if (!read_digits(text, 18, &count) && !open) return false;
    return (!open || SKIP(text, ")")) && SKIP(text, " ");
}

/* Skips a word of letters, digits and underscores, with the colon behind it. */
static bool skip_name(Text *text, const char **name, size_t *length) {
    *name = text->at;
    if (text->at < text->end && is_decimal(*text->at)) return false;
    while (text->at < text->end && (is_letter(*text->at) || is_decimal(*text->at) || *text->at == '_')) text->at++;
    *length = (size_t)(text->at - *name);
    return *length && SKIP(text, ":");
}

static inline bool is_lower(const char *name, size_t length) {
    for (size_t place = 0; place < length; place++)
        if (name[place] < 'a' || name[place] > 'z') return false;
    return true;
}

/* The name of the event, with what perf and trace-cmd write before it: perf its group, `sched:`. */
static bool read_kind(Text *text, SchedulerLine *line) {
    const char *name, *event;
    size_t length, event_length;
    skip_spaces(text);
    if (text->at < text->end && (*text->at == '(' || is_decimal(*text->at))) {
        if (!skip_count(text)) return false;
        skip_spaces(text);
    }
    if (!skip_name(text, &name, &length)) return false;
    Text behind_group = *text;
    if (is_lower(name, length) && skip_name(&behind_group, &event, &event_length)) {
        *text = behind_group;
        name = event;
        length = event_length;
    }
    line->kind = kind_of(name, length);
    skip_spaces(text);
    return line->kind != LEFT && (text->at == text->end || *text->at < '\t' || *text->at > '\r');
}

/* The letter of a state, which raw text gives as a number: of several bits the highest. */
static bool read_state(Text *text, int8_t *state) {
    static const char LETTERS[] = "SDTtXZPI";
    int64_t bits;
    if (text->at == text->end) return false;
    if (is_decimal(*text->at)) {
        if (!read_digits(text, 7, &bits)) return false;
        *state = 'R';
        for (int bit = 0; bit < 8; bit++)
            if (bits >> bit & 1) *state = LETTERS[bit];
        return true;
    }
    if (!is_letter(*text->at)) return false;
    *state = *text->at;
    while (text->at < text->end && *text->at > ' ') text->at++;
    return text->at < text->end && *text->at == ' ';
}

/* The name before the first equals sign, which ends with the word before that: no name with a sign is taken. */
static inline bool read_name(Text *text, const char *word, size_t length, NamedThread *thread) {
    const char *sign = memchr(text->at, '=', (size_t)(text->end - text->at));
    if (!sign || (size_t)(sign - text->at) < length || memcmp(sign - length, word, length) != 0) return false;
    thread->start = text->at;
    thread->length = (size_t)(sign - text->at) - length;
    text->at = sign + 1;
    return thread->length <= LONGEST_COMM;
}

#define READ_NAME(text, word, thread) read_name(text, word, sizeof(word) - 1, thread)

/* `comm:pid [prio]` at the end of a text, which is cut before it: the name is what is left. */
static bool read_short_thread(Text *text, NamedThread *thread) {
    int64_t priority;
    if (text->end == text->at || *--text->end != ']' || !read_digits_before(text, &priority)) return false;
    if (text->end > text->at && text->end[-1] == '-') text->end--;
    if (text->end - text->at < 2 || *--text->end != '[' || *--text->end != ' ') return false;
    if (!read_digits_before(text, &thread->pid) || thread->pid >= MOST_PIDS) return false;
    if (text->end == text->at || *--text->end != ':') return false;
    thread->start = text->at;
    thread->length = (size_t)(text->end - text->at);
    return thread->length <= LONGEST_COMM;
}

/* trace-cmd's `comm:pid [prio] state ==> comm:pid [prio]`, with one arrow. */
static bool read_short_switch(Text text, SchedulerLine *line) {
    const char *arrow = NULL;
    trim(&text);
    for (const char *at = text.at; text.end - at >= 5; at++)
        if (*at == ' ' && !memcmp(at, " ==> ", 5)) {
            if (arrow) return false;
            arrow = at;
        }
    if (!arrow) return false;
    Text left = {text.at, arrow}, got = {arrow + 5, text.end};
    while (left.end > left.at && left.end[-1] != ' ') left.end--;
    Text state = {left.end, text.end};
    if (left.end == left.at || !read_state(&state, &line->state) || state.at != arrow) return false;
    left.end--;
    return read_short_thread(&left, &line->left) && read_short_thread(&got, &line->got);
}

static bool read_switch(Text text, SchedulerLine *line) {
    if (!SKIP(&text, "prev_comm=")) return read_short_switch(text, line);
    if (!READ_NAME(&text, " prev_pid", &line->left) || !read_pid(&text, &line->left.pid)) return false;
    if (!SKIP(&text, " prev_prio=") || !skip_priority(&text)) return false;
    if (!SKIP(&text, " prev_state=") || !read_state(&text, &line->state)) return false;
    (void)SKIP(&text, " ==>");
    if (!SKIP(&text, " next_comm=") || !READ_NAME(&text, " next_pid", &line->got)) return false;
    if (!read_pid(&text, &line->got.pid) || !SKIP(&text, " next_prio=") || !skip_priority(&text)) return false;
    trim(&text);
    return text.at == text.end;
}

static bool read_short_wake(Text text, SchedulerLine *line) {
    NamedThread woken;
    trim(&text);
    const char *end = text.end;
    if (!read_digits_before(&text, &line->target) || line->target >= MOST_CORES || end - text.end > 5) return false;
    if (text.end - text.at < 5 || memcmp(text.end - 5, " CPU:", 5) != 0) return false;
    text.end -= 5;
    if (text.end - text.at >= 10 && is_decimal(text.end[-1]) && !memcmp(text.end - 10, " success=", 9))
        text.end -= 10;
    if (!read_short_thread(&text, &woken)) return false;
    line->pid = woken.pid;
    return true;
}

static bool read_wake(Text text, SchedulerLine *line) {
    NamedThread woken;
    int64_t success;
    if (!SKIP(&text, "comm=")) return line->kind != MIGRATE && read_short_wake(text, line);
    if (!READ_NAME(&text, " pid", &woken) || !read_pid(&text, &line->pid)) return false;
    if (!SKIP(&text, " prio=") || !skip_priority(&text)) return false;
    if (line->kind == MIGRATE) {
        if (!SKIP(&text, " orig_cpu=") || !read_core(&text, &line->target) || !SKIP(&text, " dest_cpu=")) return false;
    } else {
        if (SKIP(&text, " success=") && !read_digits(&text, 1, &success)) return false;
        if (!SKIP(&text, " target_cpu=")) return false;
    }
    if (!read_core(&text, &line->target)) return false;
    trim(&text);
    return text.at == text.end;
}

/* The number of an interrupt; a line without is good as well. */
static bool read_interrupt(Text text, SchedulerLine *line) {
    if (!SKIP(&text, "irq=") && !SKIP(&text, "vec=")) return true;
    if (text.at == text.end || !is_decimal(*text.at)) return true;
    return read_pid(&text, &line->pid);
}

static bool read_scheduler_line(Text text, SchedulerLine *line) {
    const char *start = text.at;
    const char *bracket = memchr(start, '[', (size_t)(text.end - start));
    if (!bracket || !read_thread((Text){start, bracket}, line)) return false;
    text.at = bracket + 1;
    if (!read_core(&text, &line->cpu) || !SKIP(&text, "] ")) return false;
    if (!read_time(&text, line) || !read_kind(&text, line)) return false;
    line->pid = NO_PID;
    bool wakes = line->kind == WAKING || line->kind == WAKEUP || line->kind == WAKEUP_NEW;
    line->other = wakes && line->in_interrupt ? NO_PID : line->thread;
    line->target = NO_CORE;
    line->state = 0;
    if (line->kind == OTHER) return true;
    if (line->kind >= IRQ_ENTRY) return read_interrupt(text, line);
    if (line->kind != SWITCH) return read_wake(text, line);
    if (!read_switch(text, line)) return false;
    line->pid = line->left.pid;
    line->other = line->got.pid;
    return true;
}

/* Notes what a thread is called, unless that is what was noted in its slot before. */
static inline void add_name(SchedulerTable *table, int32_t row, const NamedThread *thread) {
    ThreadName *seen = &table->seen[thread->pid % SEEN_THREADS];
    ThreadName name = {row, (int32_t)thread->pid, {0}};
    memcpy(name.name, thread->start, thread->length);
    if (!thread->pid || (seen->pid == name.pid && !memcmp(seen->name, name.name, LONGEST_COMM))) return;
    *seen = table->names[table->named++] = name;
}

static inline void add_process(SchedulerTable *table, const SchedulerLine *line) {
    ThreadProcess pair = {(int32_t)line->thread, (int32_t)line->process};
    ThreadProcess *seen = &table->seen_processes[line->thread % SEEN_THREADS];
    if (line->process == NO_PID || (seen->thread == pair.thread && seen->process == pair.process)) return;
    *seen = table->processes[table->owned++] = pair;
}

static void put_line(SchedulerTable *table, int32_t row, const SchedulerLine *line) {
    table->time[row] = line->time;
    table->cpu[row] = (int16_t)line->cpu;
    table->kind[row] = line->kind;
    table->pid[row] = (int32_t)line->pid;
    table->other[row] = (int32_t)line->other;
    table->state[row] = line->state;
    table->target[row] = (int16_t)line->target;
    if (line->kind >= 0) add_process(table, line);
    if (line->kind == SWITCH) {
        add_name(table, row, &line->left);
        add_name(table, row, &line->got);
    }
}

/* Whether a line says nothing: an empty one, or one of a call stack, which perf writes below each event. */
static inline bool says_nothing(Text text) {
    return text.at == text.end || (*text.at == '\t' && text.end[-1] == ')');
}

static size_t count_lines(const char *text, size_t length) {
    size_t lines = 0;
    const char *end = text + length;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++) lines++;
    return lines + (length && end[-1] != '\n');
}

static void read_scheduler_lines(SchedulerTable *table, const char *text, size_t length) {
    const char *end = text + length;
    int32_t row = 0;
    memset(table->seen, 0xFF, sizeof table->seen); /* no thread is -1 */
    memset(table->seen_processes, 0xFF, sizeof table->seen_processes);
    for (const char *at = text; at < end; row++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        Text whole = {at, line_end ? line_end : end};
        SchedulerLine line = {0};
        table->start[row] = (int32_t)(at - text);
        if (says_nothing(whole)) line = (SchedulerLine){.kind = REMARK};
        else if (!read_scheduler_line(whole, &line)) line = (SchedulerLine){.kind = LEFT};
        put_line(table, row, &line);
        at = whole.end + 1;
    }
}

#endif
