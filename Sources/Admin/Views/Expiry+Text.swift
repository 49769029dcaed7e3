import Bytes
import Model
import Telemetry

extension Expiry {
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
