import Telemetry

extension WeakUse {
    /// The use as a sentence for people.
    var words: String {
        let place =
            "\(server.protocol)://\(server.host.contains(":") ? "[\(server.host)]" : server.host):\(server.port)"
        let parties = [client, application, credential.map { "credential \($0)" }].compactMap(\.self)
        return "\(finding) to \(server.role.words)\(place), "
            + "last \(AdminTime.text(last)) by \(parties.joined(separator: ", "))"
    }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("finding", finding)
            json.member("host", server.host)
            json.member("port", Int(server.port))
            json.member("protocol", server.protocol)
            json.member("proxy", server.role == .parent)
            json.member("listener", server.role == .listener)
            json.member("client", client)
            json.member("application", application)
            json.member("credential", credential)
            json.member("first", AdminTime.text(first))
            json.member("last", AdminTime.text(last))
        }
    }
}

extension WeakUse.Server.Role {
    /// The words before the server's address, for people.
    fileprivate var words: String {
        switch self {
        case .origin: ""
        case .parent: "the parent "
        case .listener: "this proxy's listener "
        }
    }
}
