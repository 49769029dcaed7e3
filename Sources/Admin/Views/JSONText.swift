import Bytes
import Model

/// A JSON document in progress (RFC 8259). The members of documents for other programs are named by a `JSONField`, those
/// for the dashboard's page by a text.
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
        text += "\(name.jsonString):"
        isFirst = true
    }

    mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    mutating func member(_ name: String, _ value: Int?) {
        guard let value else { return }
        key(name)
        separate()
        text += "\(value)"
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
        text += value.jsonString
    }

    mutating func member(_ field: some JSONField, _ value: String?) { member(field.rawValue, value) }
    mutating func member(_ field: some JSONField, _ value: Int) { member(field.rawValue, value) }
    mutating func member(_ field: some JSONField, _ value: Bool) { member(field.rawValue, value) }
    mutating func member(_ field: some JSONField, _ values: [String]) { member(field.rawValue, values) }

    /// - Parameter time: nil: the member is omitted.
    mutating func member(_ field: some JSONField, time: WallTime?) { member(field.rawValue, time.map(AdminTime.text)) }

    /// - Parameter rule: the rule; nil: the member is omitted.
    mutating func member(_ field: some JSONField, rule: RuleReference?) {
        guard let rule else { return }
        key(field.rawValue)
        separate()
        text += rule.json
    }

    mutating func object(_ field: some JSONField, _ body: (inout JSONText) -> Void) { object(field.rawValue, body) }
    mutating func array(_ field: some JSONField, _ body: (inout JSONText) -> Void) { array(field.rawValue, body) }

    /// Returns an object as text.
    static func document(_ members: (inout JSONText) -> Void) -> String {
        var json = JSONText()
        json.object(members)
        return json.text
    }

    /// Returns a document with the version of the format and one list.
    static func document<Entry>(
        _ field: DocumentField, _ entries: [Entry], _ write: (inout JSONText, Entry) -> Void
    ) -> String {
        document { json in
            json.member(DocumentField.version, JSONFormat.version)
            json.array(field) { json in for entry in entries { write(&json, entry) } }
        }
    }
}
