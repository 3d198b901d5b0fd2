### Failures of a workshop, by code. The remedy says what the reader can do, and if files are lost.

failure-image-pull-failed = Der Cluster konnte das Image des Workshops nicht herunterladen.
failure-remedy-image-pull-failed = Informieren Sie Ihre Lehrperson oder die Administration: In der Vorlage steht ein falsches Image oder die Registry verweigert den Zugriff.
failure-crashed = Das Programm des Workshops wurde unerwartet beendet.
failure-remedy-crashed = Dateien, die Sie nicht anderswo gespeichert haben, sind verloren. Starten Sie den Workshop erneut oder zeigen Sie die Ausgabe Ihrer Lehrperson.
failure-out-of-memory = Der Workshop hat sein Arbeitsspeicher-Limit überschritten.
failure-remedy-out-of-memory = Dateien, die Sie nicht anderswo gespeichert haben, sind verloren. Starten Sie den Workshop erneut und laden Sie weniger Daten oder bitten Sie um mehr Arbeitsspeicher.
failure-unschedulable = Derzeit hat kein Knoten Platz für diesen Workshop.
failure-remedy-unschedulable = Versuchen Sie es in einigen Minuten noch einmal. Schlägt es wieder fehl, bitten Sie die Administration um mehr Platz.
failure-start-timeout = Der Workshop war nicht rechtzeitig bereit.
failure-remedy-start-timeout = Starten Sie ihn erneut. Dauert es wieder zu lange, informieren Sie Ihre Lehrperson oder die Administration.
failure-quota-exceeded = Das Kontingent für Workshops ist ausgeschöpft.
failure-remedy-quota-exceeded = Versuchen Sie es noch einmal, wenn andere Workshops beendet sind, oder bitten Sie die Administration um ein größeres Kontingent.
failure-evicted = Der Cluster hat den Workshop beendet, weil auf dem Knoten der Arbeits- oder Festplattenspeicher knapp wurde.
failure-remedy-evicted = Dateien, die Sie nicht anderswo gespeichert haben, sind verloren. Starten Sie den Workshop erneut.
failure-node-lost = Der Cluster hat den Knoten dieses Workshops verloren.
failure-remedy-node-lost = Dateien, die Sie nicht anderswo gespeichert haben, sind verloren. Starten Sie den Workshop erneut.
failure-invalid-spec = Mit den Einstellungen seiner Vorlage kann der Workshop nicht laufen.
failure-remedy-invalid-spec = Informieren Sie Ihre Lehrperson oder die Administration: Die Vorlage muss korrigiert werden.
failure-app-not-available = Das Programm des Workshops ist hier nicht installiert.
failure-remedy-app-not-available = Informieren Sie die Administration: Das Programm muss installiert oder die Vorlage korrigiert werden.
failure-network-not-isolated = Der Workshop wurde nicht gestartet, weil der Cluster sein Netzwerk nicht isoliert hat.
failure-remedy-network-not-isolated = Starten Sie ihn erneut. Schlägt es wieder fehl, informieren Sie die Administration: Der Cluster muss seine Netzwerkrichtlinien durchsetzen.
