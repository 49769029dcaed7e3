// Invariant: no input traps; every diagnostic's range lies inside its file and can be rendered; a file without errors compiles and answers.

import Bytes
import Model
import Rules

/// The input is the rule file; it may include and read itself as `self`.
private struct FuzzedReader: SourceReader {
    let input: [UInt8]

    func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
        guard path == "proxy.conf" || path == "self" else { throw .notFound }
        guard input.count <= limit else { throw .tooLarge(limit: limit) }
        return input
    }

    func environment(_ name: String) -> String? { name.isEmpty ? nil : String(name.reversed()) }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let file = try? RuleFile("proxy.conf", from: FuzzedReader(input: input)) else { return 0 }
    for diagnostic in file.diagnostics {
        guard let source = file.sources.file(diagnostic.range.file) else { fatalError("a diagnostic without a file") }
        let range = diagnostic.range.bytes
        precondition(range.lowerBound >= 0 && range.upperBound <= source.bytes.count, "a range outside its file")
    }
    precondition(file.report.isEmpty == file.diagnostics.isEmpty, "a diagnostic that says nothing")
    let hasError = file.diagnostics.contains { $0.severity == .error }
    precondition(hasError == (file.configuration == nil), "an error with a configuration, or neither")
    guard let configuration = file.configuration else { return 0 }
    let rules = RuleSet(configuration)
    let text = String(decoding: input, as: UTF8.self)
    for host in ["a.example", "x.y.a.example.", "10.0.0.1", "[::1]", "::ffff:10.0.0.1", "", text] {
        _ = rules.route(host: host.utf8Span.span, port: 80)
        _ = rules.mayAnswer(host: host.utf8Span.span, port: 80)
        for method in AuthenticationMethod.allCases {
            let query = ChallengeQuery(
                host: host, port: 80, protocol: .http, realm: "R", method: method,
                client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: "alice"))
            let last = rules.explain(query).last
            let explained = last?.outcome == .matched ? last?.rule : nil
            precondition(rules.decide(query).rule == explained, "the index and the explanation differ")
        }
    }
    return 0
}
