import CLinux
import Glibc

/// What a program that is started finds open.
public enum PassedDescriptors {
    /// Nothing from `descriptor` on, even if a library has opened it without close-on-exec.
    /// - Returns: whether there was memory for that.
    public static func end(before descriptor: Int32, in actions: inout posix_spawn_file_actions_t) -> Bool {
        linux_spawn_close_from(&actions, descriptor) == 0
    }
}
