/// A JSON document in progress (RFC 8259). Control characters are escaped, also those of C1, which some terminals obey.
struct JSONText {
    private(set) var text = ""
    private var isFirst = true

    private mutating func separate() {
        if !isFirst { text += "," }
        isFirst = false
    }

    private mutating func enclose(_ open: String, _ close: String, _ body: (inout JSONText) -> Void) {
        separate()
        text += open
        isFirst = true
        body(&self)
        text += close
        isFirst = false
    }

    mutating func array(_ body: (inout JSONText) -> Void) { enclose("[", "]", body) }
    mutating func object(_ body: (inout JSONText) -> Void) { enclose("{", "}", body) }

    private mutating func key(_ name: String) {
        separate()
        quote(name)
        text += ":"
        isFirst = true
    }

    mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    mutating func member(_ name: String, _ value: Int) {
        key(name)
        separate()
        text += "\(value)"
    }

    mutating func member(_ name: String, _ value: Int?) {
        if let value { member(name, value) }
    }

    mutating func member(_ name: String, _ value: Bool) {
        key(name)
        separate()
        text += value ? "true" : "false"
    }

    mutating func member(_ name: String, _ values: [String]) {
        key(name)
        array { for value in values { $0.string(value) } }
    }

    mutating func object(_ name: String, _ body: (inout JSONText) -> Void) {
        key(name)
        object(body)
    }

    mutating func array(_ name: String, _ body: (inout JSONText) -> Void) {
        key(name)
        array(body)
    }

    mutating func string(_ value: String) {
        separate()
        quote(value)
    }

    private mutating func quote(_ value: String) {
        text += "\""
        defer { text += "\"" }
        // Most texts need no escape. In UTF-8 the C1 characters begin with 0xC2.
        guard value.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 == 0x7F || $0 == 0xC2 }) else {
            text += value
            return
        }
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
