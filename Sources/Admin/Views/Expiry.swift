import Bytes
import Model

/// Something that expires at a known time.
public struct Expiry: Sendable, Equatable {
    /// The kind, such as "client certificate".
    public let kind: String
    public let name: String
    /// The server that it is for; nil: no particular one.
    public let place: String?
    /// The first time after the expiry.
    public let end: WallTime

    public init(kind: String, name: String, place: String? = nil, end: WallTime) {
        self.kind = kind
        self.name = name
        self.place = place
        self.end = end
    }

    /// The expiry as text for people.
    var words: String { "\(AdminTime.text(end)) \(kind) \(name)\(place.map { " of \($0)" } ?? "")" }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member(ExpiryField.kind, kind)
            json.member(ExpiryField.name, name)
            json.member(ExpiryField.place, place)
            json.member(ExpiryField.expires, time: end)
            json.member(ExpiryField.lastDay, "\(Day(of: end - .seconds(1)))")
        }
    }
}
