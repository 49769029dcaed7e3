import Bytes
import Foundation

/// The names that a conversation gives to texts which it cannot know.
struct Variables {
    private var values: [String: String] = [:]

    private enum Piece {
        case text(String)
        case anything
        case variable(String)
    }

    /// The text with the values of its names.
    func filled(_ text: String) -> String {
        var filled = text
        for (name, value) in values { filled.replace("{\(name)}", with: value) }
        while let start = filled.firstRange(of: "base64("), let end = filled[start.upperBound...].firstIndex(of: ")") {
            let content = Data(filled[start.upperBound..<end].utf8).base64EncodedString()
            filled.replaceSubrange(start.lowerBound...end, with: content)
        }
        return filled
    }

    /// Whether all of `text` is as the pattern says; then names that have no value yet have one.
    mutating func match(_ pattern: String, _ text: String) -> Bool {
        var found: [String: String] = [:]
        guard Self.match(pieces(of: filled(pattern))[...], text[...], &found) else { return false }
        values.merge(found) { $1 }
        return true
    }

    private func pieces(of pattern: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = pattern[...]
        while let place = rest.firstIndex(where: { $0 == "*" || $0 == "{" }) {
            if place > rest.startIndex { pieces.append(.text(String(rest[..<place]))) }
            let after = rest.index(after: place)
            let name = rest[after...].prefix { $0.isLetter || $0.isNumber }
            if rest[place] == "*" {
                pieces.append(.anything)
                rest = rest[after...]
            } else if !name.isEmpty, name.endIndex < rest.endIndex, rest[name.endIndex] == "}" {
                pieces.append(.variable(String(name)))
                rest = rest[rest.index(after: name.endIndex)...]
            } else {
                pieces.append(.text("{"))
                rest = rest[after...]
            }
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        return pieces
    }

    private static func match(_ pieces: ArraySlice<Piece>, _ text: Substring, _ found: inout [String: String]) -> Bool {
        guard let first = pieces.first else { return text.isEmpty }
        let others = pieces.dropFirst()
        if case .text(let literal) = first {
            return text.hasPrefix(literal) && match(others, text.dropFirst(literal.count), &found)
        }
        var end = text.startIndex
        while true {
            if match(others, text[end...], &found) {
                if case .variable(let name) = first { found[name] = String(text[..<end]) }
                return true
            }
            guard end < text.endIndex else { return false }
            end = text.index(after: end)
        }
    }
}
