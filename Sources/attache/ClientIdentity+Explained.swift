import Bytes
import Rules

extension ClientIdentity {
    /// `ADDRESS`, `USER` or `USER@ADDRESS`. A user without an address asks from this machine.
    init(explained text: String) throws(ExplanationError) {
        let at = text.lastIndex(of: "@")
        let place = at.map { text[text.index(after: $0)...] } ?? text[...]
        let user = at.map { String(text[..<$0]) }
        if let address = IPAddress(place), user != "" {
            self.init(address: address, user: user)
        } else if place.utf8.allSatisfy({ $0.isDigit || $0 == .colon || $0 == UInt8(ascii: ".") }) {
            // Too much like an address to be meant as a name; or there is nothing.
            throw ExplanationError("the client '\(Console.printable(text))' is neither ADDRESS, USER nor USER@ADDRESS")
        } else {
            self.init(address: IPAddress(v4: 0x7F00_0001), user: text)
        }
    }
}
