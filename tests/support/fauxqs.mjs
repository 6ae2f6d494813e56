// Starts fauxqs, which speaks SQS, SNS and S3, where only this machine can reach it, and says on which port.
import { buildApp } from "fauxqs";

const app = buildApp({ logger: false });
await app.listen({ port: Number(process.env.FAUXQS_PORT ?? 0), host: "127.0.0.1" });
console.log(`listening on 127.0.0.1:${app.server.address().port}`);
