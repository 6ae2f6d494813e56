import { access } from "../state/session";
import { useSignal } from "../state/signal";
import type { Route } from "../text/route";
import { PageHead } from "../ui/page";
import { Empty } from "../ui/states";
import { AuditPage } from "./audit";
import { BrokerQueuePage } from "./broker_queue";
import { BrokersPage } from "./brokers";
import { DeadPage } from "./dead";
import { GroupPage } from "./group";
import { OperationPage } from "./operation";
import { OperationsPage } from "./operations";
import { OverviewPage } from "./overview";
import { QueuesPage } from "./queues";
import { RecoveryPage } from "./recovery";
import { TaskPage } from "./task";
import { TasksPage } from "./tasks";
import { WorkersPage } from "./workers";

export function PageOf({ route }: { route: Route }) {
  const now = useSignal(access);
  const session = now.kind === "open" ? now.session : undefined;
  if (session?.login === "token" && session.role !== "operate" && session.role !== "read")
    return <NotAllowed role={session.role ?? "nothing"} />;
  switch (route.page) {
    case "overview":
      return <OverviewPage />;
    case "queues":
      return <QueuesPage />;
    case "tasks":
      return <TasksPage query={route.query.get("q") ?? ""} />;
    case "task":
      return <TaskPage id={route.id} />;
    case "dead":
      return <DeadPage />;
    case "group":
      return <GroupPage id={route.id} query={route.query.get("q") ?? ""} />;
    case "operations":
      return <OperationsPage />;
    case "operation":
      return <OperationPage id={route.id} />;
    case "audit":
      return <AuditPage />;
    case "workers":
      return <WorkersPage />;
    case "brokers":
      return <BrokersPage />;
    case "broker_queue":
      return <BrokerQueuePage broker={route.id} queue={route.query.get("queue") ?? ""} />;
    case "recovery":
      return <RecoveryPage id={route.id} />;
    case "lost":
      return <Lost />;
  }
}

function Lost() {
  return (
    <>
      <PageHead title="Nothing is here" name="Not found" />
      <Empty icon="search" title="There is no such page">
        <a href="#/">Go to the overview</a>
      </Empty>
    </>
  );
}

function NotAllowed({ role }: { role: string }) {
  return (
    <>
      <PageHead title="Not for this token" name="Not allowed" />
      <Empty icon="warning" title={`Your token may ${role}, not look`}>
        Log out, and log in with one whose role is read or operate.
      </Empty>
    </>
  );
}
