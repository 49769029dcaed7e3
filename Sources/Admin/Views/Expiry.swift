import Model

/// Something that expires at a known time.
public struct Expiry: Sendable, Equatable {
    /// The kind, such as "client certificate".
    public let kind: String
    public let name: String
    /// The server that it is for; nil: no particular one.
    public let place: String?
    /// The first second after the expiry, since 1970.
    public let end: Int

    public init(kind: String, name: String, place: String? = nil, end: Int) {
        self.kind = kind
        self.name = name
        self.place = place
        self.end = end
    }

    /// The expiry as text for people.
    var words: String { "\(AdminTime.text(end * 1000)) \(kind) \(name)\(place.map { " of \($0)" } ?? "")" }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member(ExpiryField.kind, kind)
            json.member(ExpiryField.name, name)
            json.member(ExpiryField.place, place)
            json.member(ExpiryField.expires, time: end * 1000)
            json.member(ExpiryField.lastDay, "\(Day(epochSeconds: end - 1))")
        }
    }
}
