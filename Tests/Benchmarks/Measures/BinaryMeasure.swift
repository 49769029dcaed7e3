/// The released binary: its size, and whether it contains the whole of Foundation.
enum BinaryMeasure {
    static func take(in setting: Setting) throws(BenchError) -> [Finding] {
        let binary = setting.options.attache
        let stripped = "\(setting.workspace.path)/stripped"
        try Child.run(["strip", "-o", stripped, binary])
        guard let size = Workspace.size(of: stripped) else { throw .machine("strip left no file") }
        // Linked in, it shows as symbols of the module; linked to, as a needed library.
        let names = try Child.run(["nm", binary]).split(separator: "\n")
        guard names.count > 1 else { throw .machine("\(binary) is stripped: nothing tells what is in it") }
        let symbols = names.count { $0.contains(" $s10Foundation") }
        let libraries = try Child.run(["readelf", "-d", binary]).split(separator: "\n")
            .count { $0.contains("[libFoundation.so]") }
        return [
            Finding("binary-size", "release binary, stripped", "MB", Double(size) / 1_000_000),
            Finding("foundation-symbols", "symbols of the whole Foundation", "", Double(symbols + libraries)),
        ]
    }
}
