/// A promise about refused answers that does not hold, and the event that showed it. See `Account`.
struct BrokenPromise: Error, CustomStringConvertible {
    enum Promise: String {
        /// P1: a directory that counts refused logins never locks the account.
        case lockout = "P1"
        /// P2: one client's requests do not take a right version from the others.
        case others = "P2"
        /// P3: a version that is right again is used again.
        case healing = "P3"
        /// P4: a version is not held back without a state that is shown, with its next try.
        case visibility = "P4"
        /// The account does not come to rest: it asks the servers over and over.
        case rest = "no end"
    }

    let promise: Promise
    let text: String

    init(_ promise: Promise, _ text: String) {
        self.promise = promise
        self.text = text
    }

    var description: String { "\(promise.rawValue): \(text)" }
}
