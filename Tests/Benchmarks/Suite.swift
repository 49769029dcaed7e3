import IO

/// Takes the measures one after the other, on the loop.
final class Suite {
    private let options: Options
    private let thresholds: [Threshold]
    private let setting: Setting

    init(_ options: Options, on loop: EventLoop, originLoop: EventLoop) throws(BenchError) {
        self.options = options
        guard let text = Workspace.text(options.thresholds) else {
            throw .thresholds("cannot read \(options.thresholds)")
        }
        thresholds = try Threshold.parse(text)
        guard Workspace.size(of: options.attache) != nil else { throw .machine("there is no \(options.attache)") }
        setting = try Setting(options, on: loop, originLoop: originLoop)
    }

    /// A measure that cannot be taken is a line of the report, so that one fault does not hide the other figures.
    func run() async -> Report {
        var report = Report(thresholds: thresholds, isWhole: options.only.isEmpty)
        for measure in Measure.allCases where options.includes(measure) {
            Bench.note("measuring \(measure.rawValue) …")
            do throws(BenchError) {
                report.findings += try await measure.take(in: setting)
            } catch {
                report.faults.append("\(measure.rawValue): \(error)")
            }
        }
        report.faults += setting.missing
        report.foreignLoad = setting.foreignLoad.share
        setting.end()
        return report
    }
}
