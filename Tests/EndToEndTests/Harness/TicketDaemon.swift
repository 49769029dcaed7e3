import Foundation
import TestSupport

/// Heimdal's daemon for caches of the type KCM, with a `/run` of its own: it takes no other socket.
final class TicketDaemon {
    static let isPossible =
        (try? Spawn.executable("kcm")) != nil
        && (try? Finished.run("unshare", ["-m", "true"]).succeeded) == true

    /// The configuration of a realm, with the daemon's socket.
    let configurationPath: String
    private let child: Subprocess

    init(for realm: KerberosRealm) throws {
        let folder = Scratch.folder("kcm")
        let socket = folder + "/run/.heim_org.h5l.kcm-socket"
        mkdir(folder + "/run", 0o755)
        configurationPath = folder + "/krb5.conf"
        let configuration = Scratch.read(realm.configurationPath)
        try Scratch.write(
            configuration.replacing("[libdefaults]", with: "[libdefaults]\n    kcm_socket = \(socket)"),
            to: configurationPath)
        child = try Subprocess(
            "unshare", ["-m", "sh", "-c", "mount --bind \(folder)/run /run && exec kcm --config-file=/dev/null"],
            directory: folder)
        guard Wait.until({ access(socket, F_OK) == 0 }) else {
            throw Spawn.Failure(description: "kcm does not start: \(child.errorOutput)")
        }
    }
}
