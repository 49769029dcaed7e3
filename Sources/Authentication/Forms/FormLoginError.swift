/// Why a login came to no verdict. The sentences name no secret, and go on behind "credential NAME is not logged in: ".
public enum FormLoginError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It leads to another scheme, host or port: the credential is not for that protection space.
    case elsewhere(String)
    case endless
    /// The server wants the form sent on, by such a status, to a path that the rule does not name.
    case sentOn(Int, to: String)
    /// The form was sent, and the server answered with this status.
    case status(Int)
    /// The server asks for the form itself in a way that has no address.
    case unusableReference
    /// The login was taken, but there is nothing to know it by.
    case noCookie
    /// No connection, no trust, or no answer in time; the sentence says which.
    case unreachable(String)

    public var description: String {
        switch self {
        case .elsewhere(let place): "its login leads to \(place), which is another protection space"
        case .endless: "its login redirects without end"
        case .sentOn(let status, let path):
            "its login was answered with status \(status), which sends the password on to \(path), another path than the rule's"
        case .status(let status): "it was answered with status \(status)"
        case .unusableReference: "its login leads to where no request can go"
        case .noCookie: "the origin took the form and set no cookie"
        case .unreachable(let sentence): sentence
        }
    }
}
