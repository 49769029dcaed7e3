# Prints each token of Swift files that Tests/mutants may change: file, line, column in bytes, the token, the new one, and the
# change's number. `same` follows for a change that Tests/mutants.same names, and for `while false`, which does not compile.
# It relies on `swift format`, which puts blanks around operators with two operands.

# The position behind the string literal that begins at `i` with that many signs #. Interpolations belong to it.
function stringEnd(text, i, signs,    depth, closing) {
    closing = "\"" signs
    for (i++; i <= length(text); i++) {
        if (substr(text, i, length(closing)) == closing) return i + length(closing)
        if (substr(text, i, 1 + length(signs)) != "\\" signs) continue
        i += 1 + length(signs)
        if (substr(text, i, 1) != "(") continue
        depth = 1
        for (i++; i <= length(text) && depth > 0; i++) {
            if (substr(text, i, 1) == "(") depth++
            else if (substr(text, i, 1) == ")") depth--
            else if (substr(text, i, 1) == "\"") i = stringEnd(text, i, "") - 1
        }
        i--
    }
    return i
}

function quotes(count,    text) {
    while (length(text) < count) text = text "\""
    return text
}

# The line with a quotation mark in place of each byte of a string, and without comments.
function masked(text,    out, i, end, signs) {
    out = ""
    i = 1
    while (i <= length(text)) {
        if (inComment) {
            end = index(substr(text, i), "*/")
            inComment = end == 0
            end = inComment ? length(text) + 1 : i + end + 1
        } else if (multiline != "") {
            end = index(substr(text, i), multiline)
            end = end == 0 ? length(text) + 1 : i + end - 1 + length(multiline)
            if (end <= length(text) || substr(text, end - length(multiline)) == multiline) multiline = ""
        } else if (substr(text, i, 2) == "//") {
            break
        } else if (substr(text, i, 2) == "/*") {
            inComment = 1
            end = i + 2
        } else if (match(substr(text, i), /^#*"/)) {
            signs = substr(text, i, RLENGTH - 1)
            i += RLENGTH - 1
            out = out quotes(RLENGTH - 1)
            if (substr(text, i, 3) == "\"\"\"") {
                multiline = "\"\"\"" signs
                end = i + 3
            } else {
                end = stringEnd(text, i, signs)
            }
        } else {
            out = out substr(text, i, 1)
            i++
            continue
        }
        out = out quotes(end - i)
        i = end
    }
    return out
}

# A change's number: its file and changed line, and which of several such lines it is.
function number(changed,    text, out, i) {
    text = changed " " ++shown[changed]
    for (i = 1; i <= length(text); i++) out = (out * 257 + code[substr(text, i, 1)]) % 2147483647
    return out
}

function show(column, token,    changed, isSame) {
    changed = substr($0, 1, column - 1) other[token] substr($0, column + length(token))
    isSame = changed ~ /^ *while false \{/
    sub(/^ */, FILENAME ": ", changed)
    if (changed in same) isSame = same[changed] = "found"
    print FILENAME, FNR, column, token, other[token], number(changed) (isSame ? " same" : "")
}

BEGIN {
    for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
    while ((getline text < "Tests/mutants.same") > 0) if (text ~ /^Sources\//) same[text] = ""
    count = split("&& || < <= > >= == != + - &+ &-", tokens, " ")
    for (i = 1; i < count; i += 2) {
        other[tokens[i]] = tokens[i + 1]
        other[tokens[i + 1]] = tokens[i]
    }
    other["true"] = "false"
    other["false"] = "true"
}

FNR == 1 {
    inComment = 0
    multiline = ""
}

{
    bare = /["\/]/ || inComment || multiline != "" ? masked($0) : $0
    # Conditions of the compiler, operators' own functions, and types that are the same.
    if (bare ~ /^ *#(if|elseif)/ || bare ~ / func [^ ]+ \(/ || bare ~ / where [A-Z][A-Za-z.]* == [A-Z]/) next
    position = 1
    while (match(substr(bare, position), /[^ ]+/)) {
        column = position + RSTART - 1
        word = substr(bare, column, RLENGTH)
        position = column + RLENGTH
        # Strings and arrays are joined by +, and have no -.
        isJoint = substr(bare, column - 2, 1) == "\"" || substr(bare, position + 1, 1) ~ /["[]/
        if (word in other && word !~ /[a-z]/) {
            if (!(isJoint && word ~ /^[-+]$/)) show(column, word)
            continue
        }
        for (start = column; match(substr(bare, start, position - start), /true|false/); start = end) {
            column = start + RSTART - 1
            end = column + RLENGTH
            token = substr(bare, column, RLENGTH)
            if (substr(bare, column - 1, 1) !~ /[A-Za-z0-9_.`]/ && substr(bare, end, 1) !~ /[A-Za-z0-9_`:]/) {
                show(column, token)
            }
        }
    }
}

END {
    for (changed in same) {
        if (same[changed] == "") print "Tests/mutants.same names a change that is not possible: " changed >"/dev/stderr"
    }
}
