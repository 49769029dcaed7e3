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
        guard let parent = try SquidParent(scheme, options.squid, in: setting.workspace, on: setting.loop) else {
            return []
        }
        defer { parent.stop() }
        var rivals = [LoginContestants.px(options.px, scheme, parent: parent.port)]
        if scheme == .ntlm { rivals.append(LoginContestants.cntlm(options.cntlm, parent: parent.port)) }
        let contestants =
            [AttacheContestant.forward(options.attache, .loggingIn(scheme, parent: parent.port))]
            + rivals.compactMap { $0 }
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        for contestant in contestants {
            try await rounds.add(contestant, connections: connections, to: "/small", warmup: warmup)
        }
        try await rounds.run(.milliseconds(options.duration), per: .request)
        let ours = rounds.cost(0) / 1000
        let title = "CPU per GET through a parent with \(scheme == .ntlm ? "NTLM" : "Basic")"
        if contestants.count == 1 { return [Finding("parent-\(scheme.rawValue)-cpu", title, "µs", ours)] }
        return contestants.indices.dropFirst().map { place in
            let rival = contestants[place].name
            return Finding(
                "parent-\(scheme.rawValue)-\(rival)-cpu", place == 1 ? title : "  beside \(rival)", "µs", ours,
                rounds.cost(place) / 1000, of: rival)
        }
    }
}
