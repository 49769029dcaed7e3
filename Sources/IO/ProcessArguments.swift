import CLinux

/// What the process was started with.
public enum ProcessArguments {
    /// The program's name first.
    public static var all: [String] {
        var all: [String] = []
        while let argument = linux_argument(Int32(clamping: all.count)) { all.append(String(cString: argument)) }
        return all
    }
}
