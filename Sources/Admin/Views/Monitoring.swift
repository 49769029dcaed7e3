/// The files that `attache metrics` prints for monitoring. They are a part of the binary.
public enum Monitoring {
    /// A Grafana board, as JSON that Grafana 8 and later import. It asks for the data source and the instances.
    public static var grafanaBoard: String { String(decoding: PackageResources.grafana_json, as: UTF8.self) }

    /// Alerts, as a rule file of Prometheus.
    public static var alertRules: String { String(decoding: PackageResources.alerts_yaml, as: UTF8.self) }
}
