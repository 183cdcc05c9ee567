from services.agent.main import main

main()
