import CLinux

/// The processors that this process may use.
public enum Processors {
    /// Cores by the scheduler's affinity mask, which a container's cpuset narrows; at least 1.
    public static var count: Int { max(1, Int(linux_processor_count())) }
}
