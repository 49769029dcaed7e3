import CLinux
import Glibc

/// The system's figures of the process; nil if the system does not provide them.
public struct ProcessFigures: Sendable {
    /// The processor time, in seconds.
    public var processorSeconds: Double?
    public var openDescriptors: Int?
    public var descriptorLimit: Int?
    public var virtualBytes: Int?
    /// The limit of addresses in bytes; nil also without a limit.
    public var virtualLimit: Int?
    public var residentBytes: Int?
    /// The start.
    public var startSeconds: Double?

    public init() {}

    /// The current figures. It takes a few system calls that do not wait.
    public static var current: ProcessFigures {
        var figures = ProcessFigures()
        var time = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 { figures.processorSeconds = seconds(time) }
        figures.openDescriptors = openDescriptors()
        figures.descriptorLimit = limit(RLIMIT_NOFILE)
        figures.virtualLimit = limit(RLIMIT_AS)
        figures.startSeconds = start
        if let fields = statusFields() {
            // Counted from the state, the third field of proc_pid_stat(5).
            figures.virtualBytes = field(20, of: fields)
            figures.residentBytes = field(21, of: fields).map { $0 &* sysconf(Int32(_SC_PAGESIZE)) }
        }
        return figures
    }

    private static func field(_ place: Int, of fields: [Substring]) -> Int? {
        fields.indices.contains(place) ? Int(fields[place]) : nil
    }

    /// The fields after the program's name, which may contain blanks and parentheses.
    private static func statusFields() -> [Substring]? {
        guard let bytes = try? SmallFile.read("/proc/self/stat", limit: 4096) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let name = text.lastIndex(of: ")") else { return nil }
        return text[text.index(after: name)...].split(separator: " ")
    }

    /// Computed once, since the time of day may change while the process lives. The system counts ticks since its own
    /// start.
    private static let start: Double? = {
        var (epoch, uptime) = (timespec(), timespec())
        let rate = sysconf(Int32(_SC_CLK_TCK))
        guard rate > 0, clock_gettime(CLOCK_REALTIME, &epoch) == 0, clock_gettime(CLOCK_BOOTTIME, &uptime) == 0,
            let ticks = statusFields().flatMap({ field(19, of: $0) })
        else { return nil }
        let start = seconds(epoch) - seconds(uptime) + Double(ticks) / Double(rate)
        return (start * Double(rate)).rounded() / Double(rate)
    }()

    /// The number of open descriptors. Since Linux 6.2 it is the size of the folder.
    private static func openDescriptors() -> Int? {
        var information = stat()
        guard stat("/proc/self/fd", &information) == 0 else { return nil }
        if information.st_size > 0 { return Int(information.st_size) }
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without the folder itself, `.` and `..`.
        return max(0, count - 3)
    }

    private static func limit(_ resource: __rlimit_resource) -> Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return nil }
        return limit.rlim_cur == rlim_t.max ? nil : Int(clamping: limit.rlim_cur)
    }

    private static func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 }
}
