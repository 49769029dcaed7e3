/// CPU time per kept-alive request through a parent proxy that wants a login, beside the programs that do nothing else.
enum ParentMeasure {
    private static let connections = 16
    private static let warmup = 500

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        var findings: [Finding] = []
        for scheme in SquidParent.Scheme.allCases { findings += try await take(scheme, in: setting) }
        return findings
    }

    private static func take(_ scheme: SquidParent.Scheme, in setting: Setting) async throws(BenchError) -> [Finding] {
        let options = setting.options
        guard let parent = try SquidParent(scheme, in: setting) else {
            return []
        }
        defer { parent.stop() }
        let ours = AttacheContestant.forward(options.attache, .loggingIn(scheme, parent: parent.port))
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        var entries: [(contestant: Contestant, manner: LoadGenerator.Manner)] = [(ours, .keeps)]
        if let px = LoginContestants.px(options.px, scheme, parent: parent.port) { entries.append((px, .keeps)) }
        if scheme == .ntlm, let cntlm = LoginContestants.cntlm(options.cntlm, parent: parent.port) {
            entries += [(cntlm, .reconnects), (ours, .reconnects)]
        }
        for entry in entries {
            try await rounds.add(
                entry.contestant, connections: connections, to: "/small", warmup: warmup, manner: entry.manner)
        }
        try await rounds.run(.milliseconds(options.duration), per: .request)
        let cost = { (name: String, manner: LoadGenerator.Manner) in
            entries.firstIndex { $0.contestant.name == name && $0.manner == manner }.map { rounds.cost($0) / 1000 }
        }
        let (metric, kept) = ("parent-\(scheme.rawValue)", rounds.cost(0) / 1000)
        var findings = [
            Finding(
                "\(metric)-px-cpu", "CPU per GET through a parent with \(scheme == .ntlm ? "NTLM" : "Basic")", "µs",
                kept, cost("px", .keeps), of: "px")
        ]
        if let cntlm = cost("cntlm", .reconnects), let reconnecting = cost("attache", .reconnects) {
            findings += [
                Finding(
                    "\(metric)-cntlm-cpu", "  beside cntlm, which ends its connections", "µs", kept, cntlm, of: "cntlm"),
                Finding(
                    "\(metric)-new-cpu", "  on new connections: we log in on each", "µs", reconnecting, cntlm,
                    of: "cntlm"),
            ]
        }
        return findings
    }
}
