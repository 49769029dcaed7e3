import Telemetry

extension ParentState {
    /// The parent for people: its name and address, and whether connections to it succeed.
    var words: String {
        let found = isFound ? ", named by a PAC file" : ""
        var words = "\(parent.name), \(parent.kind)://\(parent.address)\(found): \(standing)"
        guard isUsed else { return words }
        words += "; \(connectionsInUse) active, \(resting) idle; \(requests) requests"
        if refusals > 0 { words += ", \(refusals) × 407" }
        if failingSince == nil, let lastError {
            words += "; last error \(AdminTime.text(lastError.time)): \(lastError.reason)"
        }
        return words
    }

    private var standing: String {
        guard isUsed else { return "not used yet" }
        guard let failingSince else { return "up" }
        let next = nextTry.map { ", next try \(AdminTime.text($0))" } ?? ""
        let reason = lastError.map { " (\($0.reason))" } ?? ""
        return "failing since \(AdminTime.text(failingSince))\(next)\(reason)"
    }

    private var state: String { !isUsed ? "unused" : failingSince == nil ? "up" : "failing" }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("name", parent.name)
            json.member("kind", parent.kind)
            json.member("address", parent.address)
            json.member("found", isFound)
            json.member("state", state)
            json.member("failing_since", failingSince.map(AdminTime.text))
            json.member("next_try", nextTry.map(AdminTime.text))
            json.member("last_error", lastError?.reason)
            json.member("last_error_time", lastError.map { AdminTime.text($0.time) })
            json.member("in_use", connectionsInUse)
            json.member("resting", resting)
            json.member("requests", requests)
            json.member("refused", refusals)
            json.member("failures", failures)
        }
    }
}
