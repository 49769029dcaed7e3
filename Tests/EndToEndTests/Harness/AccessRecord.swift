import Foundation

/// A line of the access log in its `json` form.
struct AccessRecord {
    struct Malformed: Error {
        let line: String
    }

    private let values: [String: String]
    let line: String

    init(_ line: Substring) throws {
        self.line = String(line)
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            throw Malformed(line: self.line)
        }
        values = object.mapValues { value in
            // A rule by its name, or else by its place.
            guard let rule = value as? [String: Any] else { return "\(value)" }
            return rule["name"].map { "\($0)" } ?? "\(rule["file"] ?? ""):\(rule["line"] ?? "")"
        }
    }

    /// A member as text, nil if it is missing, null or empty.
    subscript(name: String) -> String? {
        values[name].flatMap { ["", "<null>", "-"].contains($0) ? nil : $0 }
    }

    var status: Int { self["status"].flatMap { Int($0) } ?? 0 }
    var attempts: Int { self["attempts"].flatMap { Int($0) } ?? 0 }
}
