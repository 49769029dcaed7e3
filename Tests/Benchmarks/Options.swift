/// The command line of `bench`.
struct Options {
    /// The release binary that is measured.
    var attache = ".build/release/attache"
    /// HAProxy, against which it is measured.
    var haproxy = "/usr/sbin/haproxy"
    /// The directory where the package squid-openssl is unpacked.
    var squid = ".build/bench-squid"
    /// The directory where the package cntlm is unpacked.
    var cntlm = ".build/bench-cntlm"
    /// The directory where pip puts px-proxy.
    var px = ".build/bench-px"
    /// The library of `allocations.c`, to be loaded into a contestant.
    var allocations = ".build/bench-allocations.so"
    /// The program of `floor.c`.
    var floor = ".build/bench-floor"
    var thresholds = "Tests/Benchmarks/thresholds.txt"
    /// Runs of each contestant, in turns; the median counts.
    var rounds = 5
    /// Milliseconds of one such run.
    var duration = 2000
    /// The measures to take; empty is all of them.
    var only: [String] = []

    static let usage = """
        usage: bench [--attache PATH] [--haproxy PATH] [--squid FOLDER] [--cntlm FOLDER] [--px FOLDER]
                     [--allocations LIBRARY] [--floor PATH] [--thresholds FILE] [--rounds N] [--duration MILLISECONDS]
                     [--only MEASURE[,MEASURE…]]
        measures: \(Measure.allCases.map(\.rawValue).joined(separator: " "))
        """

    init(_ arguments: ArraySlice<String>) throws(BenchError) {
        var rest = arguments
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { throw .usage("\(option) needs a value") }
            switch option {
            case "--attache": attache = value
            case "--haproxy": haproxy = value
            case "--squid": squid = value
            case "--cntlm": cntlm = value
            case "--px": px = value
            case "--allocations": allocations = value
            case "--floor": floor = value
            case "--thresholds": thresholds = value
            case "--rounds": rounds = try Self.count(value, for: option)
            case "--duration": duration = try Self.count(value, for: option)
            case "--only": only = value.split(separator: ",").map(String.init)
            default: throw .usage("unknown option \(option)")
            }
        }
        for name in only where Measure(rawValue: name) == nil { throw .usage("unknown measure \(name)") }
    }

    func includes(_ measure: Measure) -> Bool { only.isEmpty || only.contains(measure.rawValue) }

    private static func count(_ text: String, for option: String) throws(BenchError) -> Int {
        guard let count = Int(text), count > 0, count < 1_000_000 else {
            throw .usage("\(option) needs a number above 0, not \(text)")
        }
        return count
    }
}
