from services.connectors.main import main

main()
