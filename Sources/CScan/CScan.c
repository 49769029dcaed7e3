#include "CScan.h"

#include <string.h>

// Nearly every line needs one block for its name and a few for its value. What the blocks cannot tell, and what stands
// too near the end for a block, goes to the searches that are exact.

struct name {
    size_t end, row;
};

static bool is_blank(uint8_t byte) { return byte <= ' ' && (byte == ' ' || byte == '\t'); }
static bool is_line_end(const uint8_t *bytes) { return memcmp(bytes, "\r\n", 2) == 0; }

#ifdef __SSE2__
static __m128i load(const uint8_t *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }
static unsigned mask_of(__m128i bytes) { return (unsigned)_mm_movemask_epi8(bytes); }

/// How many of the 16 bytes, all of a token up to there, are those of `name`: among token bytes, setting bit 5 makes no
/// other byte a letter, digit or hyphen.
static inline size_t count_same(__m128i bytes, const uint8_t *name) {
    __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    return (unsigned)__builtin_ctz(~mask_of(_mm_cmpeq_epi8(folded, load(name))));
}
#endif

static inline const uint8_t *name_of(const uint8_t *names, size_t row) {
    return names + SCAN_NAME_SLOTS + row * SCAN_NAME_ROW;
}

uint8_t scan_recognise(const uint8_t *names, const uint8_t *bytes, size_t start, size_t end) {
    if (end <= start || end - start >= SCAN_NAME_ROW) return 0;
    uint8_t row = names[scan_name_slot(bytes[start], end - start)];
    if (row == 0) return 0;
    const uint8_t *name = name_of(names, row);
    bytes += start;
    size_t same = 0;
#ifdef __SSE2__
    if (end - start >= 16) same = count_same(load(bytes), name);
    if (same % 16 != 0) return 0;
#endif
    while (same < end - start && scan_lower(bytes[same]) == name[same]) same++;
    return same == end - start ? row : 0;
}

/// Where the name ends that a colon follows; `start` if there is none.
static __attribute__((noinline)) struct name find_any_name(
    const uint8_t *names, const uint8_t *bytes, size_t start, size_t count) {
    if (start == count || bytes[start] == '\r') return (struct name){start, 0};
    size_t end = scan_find_token_end(bytes, start, count);
    if (end == count || bytes[end] != ':') return (struct name){start, 0};
    return (struct name){end, scan_recognise(names, bytes, start, end)};
}

static __attribute__((noinline)) size_t find_any_control(const uint8_t *bytes, size_t start, size_t count) {
    return scan_find_control(bytes, start, count);
}

static inline struct name find_name(const uint8_t *names, const uint8_t *bytes, size_t start, size_t count) {
#ifdef __SSE2__
    if (start + 17 <= count) {
        __m128i block = load(bytes + start);
        size_t length = (unsigned)__builtin_ctz(mask_of(scan_no_tokens(block)) | 0x10000);
        if (bytes[start + length] == ':') {
            size_t row = names[scan_name_slot(bytes[start], length)];
            bool is_known = row != 0 && count_same(block, name_of(names, row)) >= length;
            return (struct name){start + length, is_known ? row : 0};
        }
    }
#endif
    return find_any_name(names, bytes, start, count);
}

/// A carriage return, or where the exact search has to begin.
static inline size_t skip_value(const uint8_t *bytes, size_t start, size_t count) {
#ifdef __SSE2__
    for (; start + 16 <= count; start += 16) {
        unsigned mask = mask_of(scan_unusual(load(bytes + start)));
        if (mask != 0) return start + (unsigned)__builtin_ctz(mask);
    }
#endif
    return start;
}

size_t scan_read_lines(
    struct scan_lines *lines, const uint8_t *names, const uint8_t *bytes, size_t start, size_t count, size_t limit) {
    if (limit > count) limit = count;
    struct scan_line *line = lines->lines + lines->filled;
    struct scan_line *room_end = lines->lines + lines->room;
    uint64_t present = lines->present, repeated = lines->repeated;
    for (; line < room_end; line++) {
        struct name name = find_name(names, bytes, start, count);
        if (name.end == start) break;
        size_t value_end = skip_value(bytes, name.end + 1, count);
        if (value_end + 2 > limit || !is_line_end(bytes + value_end)) {
            value_end = find_any_control(bytes, value_end, count);
            if (value_end + 2 > limit || !is_line_end(bytes + value_end)) break;
        }
        line->start = (uint32_t)start;
        start = value_end + 2;
        line->end = (uint32_t)start;
        line->name_end = (uint32_t)name.end;
        line->row = (uint8_t)name.row;
        line->marked = false;
        uint64_t row = (uint64_t)1 << name.row & ~(uint64_t)1;
        repeated |= present & row;
        present |= row;
        // The carriage return ends the first search, the value's first byte the second.
        size_t value_start = name.end + 1;
        while (is_blank(bytes[value_start])) value_start++;
        while (value_end > value_start && is_blank(bytes[value_end - 1])) value_end--;
        line->value_start = (uint32_t)value_start;
        line->value_end = (uint32_t)value_end;
    }
    lines->filled = (size_t)(line - lines->lines);
    lines->present = present;
    lines->repeated = repeated;
    return start;
}

size_t scan_find_quad_end(const uint8_t *bytes, size_t start, size_t count) {
    size_t end = start;
    for (int number = 0;; number++) {
        unsigned value = end < count ? (uint8_t)(bytes[end] - '0') : 10;
        if (value > 9) return start;
        // A digit behind a leading zero makes no number.
        for (uint8_t digit; ++end < count && (digit = bytes[end] - '0') < 10;) {
            value = value == 0 ? 256 : value * 10 + digit;
            if (value > 255) return start;
        }
        if (number == 3) return end;
        if (end == count || bytes[end] != '.') return start;
        end++;
    }
}

static bool is_mark(const uint8_t *bytes) { return memcmp(bytes, SCAN_MARK, sizeof SCAN_MARK - 1) == 0; }

#ifdef __SSE2__
/// Where the third and the fourth letter of the mark stand behind each other, a pair that few heads have.
static inline __m128i mark_pairs(const uint8_t *bytes) {
    return _mm_and_si128(
        _mm_cmpeq_epi8(load(bytes), _mm_set1_epi8(SCAN_MARK[2])),
        _mm_cmpeq_epi8(load(bytes + 1), _mm_set1_epi8(SCAN_MARK[3])));
}
#endif

size_t scan_find_mark(const uint8_t *bytes, size_t start, size_t count) {
    const size_t length = sizeof SCAN_MARK - 1;
    if (count < length) return count;
    const size_t last = count - length;
#ifdef __SSE2__
    // A look at 16 places for the pair reads the byte behind them.
    const size_t read = 2 + 16 + 1;
    while (start <= last && count >= read) {
        if (start + read + 16 <= count &&
            mask_of(_mm_or_si128(mark_pairs(bytes + start + 2), mark_pairs(bytes + start + 18))) == 0) {
            start += 32;
            continue;
        }
        // The last block may overlap the one before.
        size_t from = start + read <= count ? start : count - read;
        for (unsigned mask = mask_of(mark_pairs(bytes + from + 2)); mask != 0; mask &= mask - 1) {
            size_t place = from + (unsigned)__builtin_ctz(mask);
            if (place >= start && place <= last && is_mark(bytes + place)) return place;
        }
        start = from + 16;
    }
#endif
    for (; start <= last; start++) {
        if (bytes[start] == SCAN_MARK[0] && is_mark(bytes + start)) return start;
    }
    return count;
}

const unsigned char scan_token_table[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0,
    0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

const unsigned char scan_lower_table[256] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    64, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
    112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 91, 92, 93, 94, 95,
    96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
    112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127,
    128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143,
    144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159,
    160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175,
    176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191,
    192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207,
    208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223,
    224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239,
    240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255,
};
